"""An upgrade of vas-shuffled on the lab's real YARN, node by node, amid a job.

The program file is replaced as a package manager does it, by a rename; each NodeManager is then
started again and starts the new program. Meanwhile old and new daemons serve one another.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.faults import MAPS, PATIENCE_SECONDS, digests, faulty_job, names
from vas_tests.kills import SPREAD, at_half, halves, release_halves, restart
from vas_tests.shuffled import (
    PROGRAM,
    READ_BYTES,
    WITH_DAEMON,
    daemons,
    metrics,
    with_recovery,
)
from vas_yarn.profiles import NODE_SHUFFLE, STOCK_SHUFFLE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PROGRAM.exists(), reason="vas-shuffled is not built"),
]

_STATE = REPOSITORY / "build" / "lab" / "jbs-upgrade"
# Outside the lab's state, which the lab itself removes.
_INSTALLED = REPOSITORY / "build" / "jbs-upgrade" / "vas-shuffled"
_PROPERTIES = WITH_DAEMON | with_recovery(_STATE) | {"vas.shuffled.program": str(_INSTALLED)}
_LARGE = {"probe.records": "200000", "mapreduce.job.tags": ""}
_JBS = NODE_SHUFFLE | _LARGE | SPREAD


def install() -> int:
    """Replaces the installed program by a new file, and returns the file's inode."""
    _INSTALLED.parent.mkdir(parents=True, exist_ok=True)
    new = _INSTALLED.with_suffix(".new")
    shutil.copy2(PROGRAM, new)
    os.replace(new, _INSTALLED)
    return _INSTALLED.stat().st_ino


def inode(pid: int) -> int:
    """Returns the inode of the program that a process runs."""
    return Path(f"/proc/{pid}/exe").stat().st_ino


@pytest.fixture(scope="module")
def own_lab() -> Iterator[Lab]:
    install()
    options = LabOptions(state_dir=_STATE, hosts=4, properties=_PROPERTIES)
    with Lab.start(options, tied=True) as started:
        yield started


def test_an_upgrade_node_by_node_amid_a_job_costs_no_attempt(own_lab: Lab) -> None:
    with faulty_job(own_lab, "stock", conf=STOCK_SHUFFLE | _LARGE) as job:
        job.succeeded()
    with faulty_job(own_lab, "upgraded", *halves().values(), conf=_JBS) as job:
        reducers = at_half(job)
        old = daemons(_INSTALLED)
        guests = own_lab.spec.cluster.guests()
        assert len(old) == len(guests)
        new = install()
        assert new not in {inode(pid) for pid in old}
        for upgraded, guest in enumerate(guests, 1):
            restart(own_lab, guest.name)
            poll(
                lambda: daemons(_INSTALLED),
                lambda now, at=upgraded: len(now) == len(guests) and len(now - old) == at,
                PATIENCE_SECONDS,
                f"{guest.name} to run the new program",
            )
        assert {inode(pid) for pid in daemons(_INSTALLED)} == {new}
        release_halves(job, set(reducers.values()))
        assert job.succeeded().total_maps == MAPS
        assert job.failed() == {}
        assert {*job.attempts()} == names("m", 0) | names("r", 0)
        assert sum(metrics(own_lab, *READ_BYTES)) > 0, "nothing was left to be sent by the new ones"
    assert digests(own_lab, "upgraded") == digests(own_lab, "stock")
