"""Fixtures of several files; one lab for all end-to-end tests, as its start takes long."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_ansible.archives import archive_hadoop, archive_wheels
from vas_core.cli import run_command
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.bootstrap import ScriptClone
from vas_tests.faults import MAPS, REDUCERS, digests, faulty_job

# Whoever runs in the background has SIGINT ignored, and so would all that is started from here:
# the tests that interrupt a command need it as a terminal gives it.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).parents[1]

# A NodeManager that falls silent is missed after 10 s here, not after YARN's 10 minutes.
_QUICK_EXPIRY = {
    "yarn.nm.liveness-monitor.expiry-interval-ms": "10000",
    "yarn.resourcemanager.nm.liveness-monitor.expiry-interval-ms": "10000",
}


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """A lab of four hosts, ended with the tests however they end."""
    options = LabOptions(
        state_dir=REPOSITORY / "build" / "lab" / "tests", hosts=4, properties=_QUICK_EXPIRY
    )
    with Lab.start(options, tied=True) as started:
        yield started


@pytest.fixture(scope="session")
def program_archive() -> dict[str, object]:
    """What a controller hands to nodes that need no Hadoop, by the variable that names it."""
    wheels = REPOSITORY / "build" / "hosts" / "vas-wheels.tar"
    archive_wheels(wheels)
    return {"vas_program_archive": str(wheels)}


@pytest.fixture(scope="session")
def archives(program_archive: dict[str, object]) -> dict[str, object]:
    """What a controller hands to nodes, by the variables that name it."""
    hadoop = REPOSITORY / "build" / "hosts" / "vas-hadoop.tar"
    archive_hadoop(hadoop)
    return program_archive | {"vas_hadoop_archive": str(hadoop)}


@pytest.fixture(scope="session")
def guest_image() -> Path:
    """The directory of the guests' image: $VAS_GUEST_IMAGE, or one built anew the quick way."""
    if given := os.environ.get("VAS_GUEST_IMAGE"):
        return Path(given)
    directory = REPOSITORY / "build" / "image" / "test"
    shutil.rmtree(directory, ignore_errors=True)
    words = ["image", "build", "--builder", "quick", "--output", str(directory)]
    assert run_command(words) == 0
    return directory


@pytest.fixture(scope="session")
def undisturbed(lab: Lab) -> dict[str, str]:
    """The output of a probe job that nothing happens to: file -> SHA-256."""
    with faulty_job(lab, "undisturbed") as job:
        assert job.succeeded().total_maps == MAPS
    output = digests(lab, "undisturbed")
    assert len(output) == REDUCERS
    return output


@pytest.fixture(params=["apt-get", "dnf"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> ScriptClone:
    """A machine that lacks things, with each of the two package managers."""
    return ScriptClone(tmp_path, request.param)


@pytest.fixture
def debian(tmp_path: Path) -> ScriptClone:
    """A machine that lacks things, for what does not depend on the package manager."""
    return ScriptClone(tmp_path, "apt-get")
