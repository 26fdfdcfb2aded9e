"""Kills on the lab's real YARN, with our shuffle: an undisturbed job's output, and nothing left."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from vas_lab.control import Request
from vas_lab.daemons import node_manager
from vas_lab.lab import Lab
from vas_lab.polling import poll
from vas_tests.faults import (
    EXIT_SECONDS,
    MAPS,
    PATIENCE_SECONDS,
    REDUCERS,
    FaultyJob,
    Point,
    attempt,
    digests,
    faulty_job,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

_MANIFEST = "/manifest$"
_MOF = r"\.mof$"
_OUTPUT = "part-r-"
# A reducer writes some 250 lines in four calls each: this is at half of them.
_HALF = 500
# One map and one reducer on each node at a time.
_SPREAD = {"mapreduce.map.memory.mb": "600", "mapreduce.reduce.memory.mb": "600"}


@pytest.fixture(scope="module")
def undisturbed(lab: Lab) -> dict[str, str]:
    """The output of a job that nothing happens to."""
    with faulty_job(lab, "undisturbed") as job:
        assert job.succeeded().total_maps == MAPS
    output = digests(lab, "undisturbed")
    assert len(output) == REDUCERS
    return output


def names(kind: str, attempt_number: int) -> set[str]:
    """Every map's (m) or reducer's (r) attempt of that number."""
    count = MAPS if kind == "m" else REDUCERS
    return {f"{kind}_{task:06}_{attempt_number}" for task in range(count)}


def test_killed_tasks_run_again_and_no_other(lab: Lab, undisturbed: dict[str, str]) -> None:
    points = (
        Point("unpublished", attempt("m_000000_0"), "rename", _MANIFEST),
        Point("published", attempt("m_000001_0"), "renamed", _MANIFEST),
        Point("validating", attempt("r_000000_0"), "open", _MANIFEST, nth=2),
        Point("merging", attempt("r_000001_0"), "read", _MOF, nth=2),
        Point("reducing", attempt("r_000002_0"), "write", _OUTPUT, nth=_HALF),
    )
    with faulty_job(lab, "killed-tasks", *points) as job:
        for point in points:
            job.kill(point.name)
        assert job.succeeded().total_maps == MAPS + 2
        killed = {"m_000000_0", "m_000001_0", "r_000000_0", "r_000001_0", "r_000002_0"}
        assert set(job.failed()) == killed
    assert digests(lab, "killed-tasks") == undisturbed


def halves() -> dict[str, Point]:
    """Reducer's first attempt -> the half of its output."""
    return {
        name: Point(f"half-of-{name}", attempt(name), "write", _OUTPUT, nth=_HALF)
        for name in sorted(names("r", 0))
    }


def at_half(job: FaultyJob) -> dict[str, str]:
    """Waits until each reducer is at half of its output: node -> the reducer's attempt."""
    return {job.held(point.name).node: name for name, point in halves().items()}


def release_halves(job: FaultyJob, reducers: set[str]) -> None:
    """Lets reducers go on."""
    job.release(*(halves()[name].name for name in reducers))


@contextmanager
def dead(lab: Lab, guest: str) -> Iterator[None]:
    """A NodeManager that is dead during the body, by kill -9; its containers live on."""
    kill(lab, node_manager(guest))
    try:
        yield
    finally:
        lab.ask(Request(ask="start", daemon=node_manager(guest)))
        poll(lambda: nodes(lab).get(guest), lambda s: s == "RUNNING", PATIENCE_SECONDS, guest)


def kill(lab: Lab, daemon: str) -> None:
    """kill -9 of a daemon; afterwards it can be started again."""

    def is_alive() -> bool:
        daemons = lab.ask(Request(ask="status")).daemons
        return next(d.pid is not None for d in daemons if d.name == daemon)

    lab.ask(Request(ask="signal", daemon=daemon, signal=signal.SIGKILL))
    poll(is_alive, lambda alive: not alive, PATIENCE_SECONDS, f"{daemon} to end")


def nodes(lab: Lab) -> dict[str, str]:
    """Node -> state, as the ResourceManager has it."""
    return lab.ask(Request(ask="status")).nodes


def test_a_node_lost_at_half_of_the_reduce_phase_costs_no_map(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    again = [
        Point(f"again-{r}", attempt(f"r_{r:06}_1"), "write", _OUTPUT, nth=_HALF)
        for r in range(REDUCERS)
    ]
    with faulty_job(lab, "lost-node", *halves().values(), *again, conf=_SPREAD) as job:
        reducers = at_half(job)
        lost = min(set(reducers) - {job.master_node()})
        orphan = reducers.pop(lost)
        assert lost in {a.node for a in job.attempts().values()}, "no map ran there"
        with dead(lab, lost):
            release_halves(job, set(reducers.values()))
            job.held(f"again-{int(orphan[2:8])}")
            # Its node is lost and another attempt runs; it does not know yet.
            release_halves(job, {orphan})
            poll(job.tasks, lambda alive: orphan not in alive, EXIT_SECONDS, "the orphan to end")
            job.release(*(point.name for point in again))
            assert job.succeeded().total_maps == MAPS
        after = job.attempts()
        assert maps(job) == names("m", 0)
        assert after[orphan].state == "KILLED"
        second = after[f"{orphan[:-1]}1"]
        assert (second.state, second.node == lost) == ("SUCCEEDED", False)
    assert digests(lab, "lost-node") == undisturbed


@pytest.mark.long
def test_without_the_tag_a_lost_node_costs_its_maps(lab: Lab, undisturbed: dict[str, str]) -> None:
    conf = _SPREAD | {"mapreduce.job.tags": ""}
    with faulty_job(lab, "lost-untagged", *halves().values(), conf=conf) as job:
        reducers = at_half(job)
        lost = min(set(reducers) - {job.master_node()})
        orphan = reducers.pop(lost)
        lost_maps = {a.name for a in job.attempts().values() if a.node == lost}
        assert lost_maps
        with dead(lab, lost):
            poll(
                lambda: states(job, lost_maps),
                lambda s: s == {"KILLED"},
                PATIENCE_SECONDS,
                "its maps to be lost",
            )
            release_halves(job, set(reducers.values()))
            assert job.succeeded().total_maps == MAPS + len(lost_maps)
        release_halves(job, {orphan})
    assert digests(lab, "lost-untagged") == undisturbed


def maps(job: FaultyJob) -> set[str]:
    """The map attempts that have ended."""
    return {name for name in job.attempts() if name[0] == "m"}


def states(job: FaultyJob, attempts: set[str]) -> set[str]:
    """The states of some attempts that have ended."""
    return {a.state for a in job.attempts().values() if a.name in attempts}


def test_a_killed_application_master_finds_its_finished_maps(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    with faulty_job(lab, "killed-master", *halves().values()) as job:
        at_half(job)
        job.kill_master()
        job.succeeded()
        after = job.attempts()
        assert maps(job) == names("m", 0)
        assert {name for name, a in after.items() if a.state == "SUCCEEDED"} == names(
            "m", 0
        ) | names("r", 1000)
    assert digests(lab, "killed-master") == undisturbed
