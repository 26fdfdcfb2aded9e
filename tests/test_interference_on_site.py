"""`vas bench interference --cluster` on a site: a lab that is there already, used by its map alone.

Rates of so short a measurement on a machine that does other things say nothing: none is looked at.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from vas_bench.interference.scope import PATTERN_NAMES
from vas_core.process import Completed
from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.in_lab import inside

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("fio") is None, reason="no fio"),
]

SMALL = ["--rounds", "1", "--warm-up", "0", "--seconds", "2", "--size", "64M", "--files", "64M"]


@pytest.fixture(scope="module")
def site() -> Iterator[Lab]:
    directory = REPOSITORY / "build" / "lab" / "test-interference-on-site"
    with Lab.start(LabOptions(state_dir=directory, hosts=2), tied=True) as started:
        yield started


def interference(site: Lab, *options: str, node: str | None = None) -> Completed:
    """The command on the site's master, which is no server, or on another node."""
    argv = [sys.executable, "-m", "vas_core", "bench", "interference", "--json", *SMALL]
    named = ["--cluster", str(site.spec.cluster_file), "--directory", "/user/ann"]
    return site.call([*argv, *named, *options], node=node, check=False)


@pytest.fixture(scope="module")
def found(site: Lab) -> dict[str, Any]:
    """What a session printed."""
    done = interference(site)
    assert done.status == 0, done.stderr
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def test_a_site_has_its_two_arms_and_says_which_one_it_has_not(found: dict[str, Any]) -> None:
    turns = {turn["arm"]: turn for turn in found["turns"]}
    assert set(turns) == set(found["arms"]) == {"alone", "guest"}
    for turn in turns.values():
        assert set(turn["bytes_per_second"]) == set(PATTERN_NAMES)
        assert min(turn["bytes_per_second"].values()) > 0
    assert turns["alone"]["job_seconds"] == []
    assert min(turns["guest"]["job_seconds"]) > 0
    assert "no NodeManager runs on a storage server" in found["not_here"]["host"]
    assert {(it["arm"], it["base"]) for it in found["comparisons"]} == {("guest", "alone")}
    assert found["jobs"] is None


def test_the_site_is_left_as_it_was(site: Lab, found: dict[str, Any]) -> None:
    assert found["site"]["page_caches_emptied"] == "none"
    assert site.call(["ls", "-A", str(inside(site, "user", "ann"))]).stdout == ""


def test_what_is_somebodys_is_left_alone(site: Lab) -> None:
    there = str(inside(site, "user", "ann", "vas-interference"))
    site.call(["mkdir", there])
    try:
        done = interference(site)
        assert done.status == 2
        assert "is there, and no session made it" in done.stderr
        assert site.call(["ls", "-d", there]).stdout.strip() == there
    finally:
        site.call(["rmdir", there])


def test_a_storage_server_is_no_client(site: Lab) -> None:
    done = interference(site, node="oss1")
    assert done.status == 2
    assert "is a server or a guest" in done.stderr
