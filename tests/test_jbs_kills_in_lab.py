"""Kills on the lab's real YARN with map output on the nodes' own disks: daemons, nodes, masters.

Each job ends with the output that stock's shuffle gives, and leaves nothing. The reducers are held
at half of their output, when most bytes of the larger segments are still to come.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.faults import EXIT_SECONDS, MAPS, PATIENCE_SECONDS, digests, faulty_job, maps, names
from vas_tests.kills import SPREAD, at_half, dead, halves, release_halves, restart
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

_STATE = REPOSITORY / "build" / "lab" / "jbs-kills"
_PROPERTIES = WITH_DAEMON | with_recovery(_STATE)
# Some 10 MB for each reducer: a segment is many times the two buffers that a reducer holds of it.
_LARGE = {"probe.records": "200000", "mapreduce.job.tags": ""}
_JBS = NODE_SHUFFLE | _LARGE | SPREAD


@pytest.fixture(scope="module")
def own_lab() -> Iterator[Lab]:
    options = LabOptions(state_dir=_STATE, hosts=4, properties=_PROPERTIES)
    with Lab.start(options, tied=True) as started:
        yield started


@pytest.fixture(autouse=True)
def nothing_left(own_lab: Lab) -> Iterator[None]:
    """After each test, waits until the nodes have no directory of an application any more."""
    yield
    poll(
        lambda: [*own_lab.spec.state_dir.glob("nodes/*/local/usercache/*/appcache/application_*")],
        lambda left: not left,
        EXIT_SECONDS,
        "the nodes to remove the applications' directories",
    )


@pytest.fixture(scope="module")
def stock(own_lab: Lab) -> dict[str, str]:
    """The output with stock's shuffle: file -> SHA-256."""
    with faulty_job(own_lab, "stock", conf=STOCK_SHUFFLE | _LARGE) as job:
        job.succeeded()
    return digests(own_lab, "stock")


@pytest.mark.parametrize(
    ("delivery", "read"), [("segments", READ_BYTES), ("merged", ("merged_bytes_total",))]
)
def test_daemons_killed_in_mid_merge_cost_no_attempt(
    own_lab: Lab, stock: dict[str, str], delivery: str, read: tuple[str, ...]
) -> None:
    conf = _JBS | {"vas.shuffled.delivery": delivery}
    with faulty_job(own_lab, "daemons", *halves().values(), conf=conf) as job:
        reducers = at_half(job)
        before = daemons()
        assert len(before) == len(own_lab.spec.cluster.guests())
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        poll(
            daemons,
            lambda now: len(now) == len(before) and not now & before,
            PATIENCE_SECONDS,
            "each NodeManager to start its daemon again",
        )
        release_halves(job, set(reducers.values()))
        assert job.succeeded().total_maps == MAPS
        assert job.failed() == {}
        assert {*job.attempts()} == names("m", 0) | names("r", 0)
        assert sum(metrics(own_lab, *read)) > 0, "nothing was left to be sent after the kill"
    assert digests(own_lab, "daemons") == stock


def test_node_managers_that_start_again_cost_no_attempt(
    own_lab: Lab, stock: dict[str, str]
) -> None:
    """The daemon ends with its NodeManager, and learns the running jobs from the next one."""
    with faulty_job(own_lab, "managers", *halves().values(), conf=_JBS) as job:
        reducers = at_half(job)
        before = daemons()
        for guest in own_lab.spec.cluster.guests():
            restart(own_lab, guest.name)
        poll(
            daemons,
            lambda now: len(now) == len(before) and not now & before,
            PATIENCE_SECONDS,
            "each NodeManager to start its daemon",
        )
        release_halves(job, set(reducers.values()))
        assert job.succeeded().total_maps == MAPS
        assert job.failed() == {}
        assert {*job.attempts()} == names("m", 0) | names("r", 0)
        assert sum(metrics(own_lab, *READ_BYTES)) > 0, (
            "nothing was left to be sent after the restarts"
        )
    assert digests(own_lab, "managers") == stock


def test_a_lost_node_costs_its_own_maps_and_the_attempts_that_read_them(
    own_lab: Lab, stock: dict[str, str]
) -> None:
    """Its reducer runs again, and so does each other one that had not read all from there."""
    with faulty_job(own_lab, "lost", *halves().values(), conf=_JBS) as job:
        reducers = at_half(job)
        lost = min(set(reducers) - {job.master_node()})
        orphan = reducers.pop(lost)
        assert lost in {it.node for it in job.attempts().values()}, "no map ran there"
        with dead(own_lab, lost):
            release_halves(job, set(reducers.values()))
            job.succeeded()
            release_halves(job, {orphan})
        after = job.attempts()
        again = {name for name in maps(job) if not name.endswith("_0")}
        first = {name for name in names("m", 0) if after[name].node == lost}
        assert {name.rpartition("_")[0] for name in again} == {
            name.rpartition("_")[0] for name in first
        }, "the maps of the lost node run again, and no other"
        assert after[f"{orphan[:-1]}1"].state == "SUCCEEDED"
    assert digests(own_lab, "lost") == stock


def test_a_killed_master_finds_its_finished_maps(own_lab: Lab, stock: dict[str, str]) -> None:
    with faulty_job(own_lab, "master", *halves().values(), conf=_JBS) as job:
        at_half(job)
        job.kill_master()
        job.succeeded()
        assert maps(job) == names("m", 0)
        succeeded = {it.name for it in job.attempts().values() if it.state == "SUCCEEDED"}
        assert succeeded == names("m", 0) | names("r", 1000)
    assert digests(own_lab, "master") == stock
