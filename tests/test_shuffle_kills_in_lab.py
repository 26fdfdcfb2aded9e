"""Kills on the lab's real YARN: tasks, nodes, masters and jobs, with our shuffle.

Each ends in an undisturbed job's output, and leaves nothing.
"""

from __future__ import annotations

import pytest

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_lab.control import ControlRequest
from vas_lab.hadoop.daemons import RESOURCE_MANAGER
from vas_lab.lab import Lab
from vas_tests.faults import (
    EXIT_SECONDS,
    MANIFEST,
    MAPS,
    MOF,
    PATIENCE_SECONDS,
    REDUCERS,
    Point,
    attempt,
    digests,
    faulty_job,
    finished,
    mapred,
    maps,
    names,
    states,
    yarn,
)
from vas_tests.in_lab import resource_manager
from vas_tests.kills import (
    HALF,
    OUTPUT,
    SPREAD,
    at_half,
    dead,
    halves,
    kill,
    nodes,
    release_halves,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_killed_tasks_run_again_and_no_other(lab: Lab, undisturbed: dict[str, str]) -> None:
    points = (
        Point("unpublished", attempt("m_000000_0"), "rename", MANIFEST),
        Point("published", attempt("m_000001_0"), "renamed", MANIFEST),
        Point("validating", attempt("r_000000_0"), "open", MANIFEST, nth=2),
        Point("merging", attempt("r_000001_0"), "read", MOF, nth=2),
        Point("reducing", attempt("r_000002_0"), "write", OUTPUT, nth=HALF),
    )
    with faulty_job(lab, "killed-tasks", *points) as job:
        for point in points:
            job.kill(point.name)
        assert job.succeeded().total_maps == MAPS + 2
        killed = {"m_000000_0", "m_000001_0", "r_000000_0", "r_000001_0", "r_000002_0"}
        assert set(job.failed()) == killed
    assert digests(lab, "killed-tasks") == undisturbed


@pytest.mark.nightly
@pytest.mark.long
def test_a_node_lost_at_half_of_the_reduce_phase_costs_no_map(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    again = [
        Point(f"again-{r}", attempt(f"r_{r:06}_1"), "write", OUTPUT, nth=HALF)
        for r in range(REDUCERS)
    ]
    with faulty_job(lab, "lost-node", *halves().values(), *again, conf=SPREAD) as job:
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
def test_a_node_lost_in_the_map_phase_costs_no_finished_map(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    points = [Point(name, attempt(name), "rename", MANIFEST) for name in sorted(names("m", 0))]
    with faulty_job(lab, "lost-early", *points, conf=SPREAD) as job:
        where = {job.held(point.name).node: point.name for point in points}
        assert len(where) == MAPS
        lost, *_, last = sorted(where, key=lambda node: (node == job.master_node(), node))
        running = where.pop(last)
        job.release(*where.values())
        finished(job, set(where.values()))
        # A map whose container has not ended for YARN runs again, as in stock.
        poll(
            lambda: resource_manager(lab, f"apps/{job.application}")["app"]["runningContainers"],
            lambda count: count == 2,
            PATIENCE_SECONDS,
            "master and one map",
        )
        with dead(lab, lost):
            poll(lambda: nodes(lab).get(lost), lambda s: s == "LOST", PATIENCE_SECONDS, lost)
            job.release(running)
            assert job.succeeded().total_maps == MAPS
        assert maps(job) == names("m", 0)
    assert digests(lab, "lost-early") == undisturbed


@pytest.mark.nightly
@pytest.mark.long
def test_without_the_tag_a_lost_node_costs_its_maps(lab: Lab, undisturbed: dict[str, str]) -> None:
    conf = SPREAD | {"mapreduce.job.tags": ""}
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


@pytest.mark.long
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


@pytest.mark.long
def test_a_master_killed_in_the_map_phase_runs_the_unfinished_maps_alone(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    unfinished = {"m_000002_0", "m_000003_0"}
    points = [Point(name, attempt(name), "rename", MANIFEST) for name in sorted(unfinished)]
    with faulty_job(lab, "master-killed-early", *points) as job:
        for point in points:
            job.held(point.name)
        done = names("m", 0) - unfinished
        finished(job, done)
        job.kill_master()
        job.succeeded()
        again = {"m_000002_1000", "m_000003_1000"}
        succeeded = {a.name for a in job.attempts().values() if a.state == "SUCCEEDED"}
        assert succeeded == done | again | names("r", 1000)
    assert digests(lab, "master-killed-early") == undisturbed


@pytest.mark.nightly
@pytest.mark.long
def test_a_restarted_resource_manager_still_keeps_the_maps_of_a_lost_node(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    """A node with finished maps dies while the ResourceManager is away, another one afterwards."""
    with faulty_job(lab, "killed-rm", *halves().values(), conf=SPREAD) as job:
        reducers = at_half(job)
        first, second, *_ = sorted(set(reducers) - {job.master_node()})
        assert {first, second} <= {a.node for a in job.attempts().values()}, "no map ran there"
        done, orphan = reducers.pop(first), reducers.pop(second)
        release_halves(job, {done})
        finished(job, {done})
        kill(lab, RESOURCE_MANAGER)
        with dead(lab, first):
            lab.ask(ControlRequest(ask="start", daemon=RESOURCE_MANAGER))
            poll(lambda: nodes(lab).get(second), lambda s: s == "RUNNING", PATIENCE_SECONDS, second)
            with dead(lab, second):
                release_halves(job, set(reducers.values()))
                assert job.succeeded().state == "SUCCEEDED"
        release_halves(job, {orphan})
        after = job.attempts()
        assert maps(job) == names("m", 0)
        assert after[f"{orphan[:-1]}1"].state == "SUCCEEDED"
    assert digests(lab, "killed-rm") == undisturbed


# ---- Two attempts of a task at a time.


@pytest.mark.long
def test_of_two_published_attempts_one_counts(lab: Lab, undisturbed: dict[str, str]) -> None:
    points = (
        Point("slow-map", attempt("m_000000_0"), "renamed", MANIFEST),
        Point("slow-reducer", attempt("r_000000_0"), "write", OUTPUT, nth=HALF),
    )
    # On a busy machine they may be begun, and be done, before the first ones are held.
    second = (
        Point("second-map", attempt("m_000000_1"), "rename", MANIFEST),
        Point("second-reducer", attempt("r_000000_1"), "write", OUTPUT, nth=HALF),
    )
    conf = {
        "mapreduce.map.speculative": "true",
        "mapreduce.reduce.speculative": "true",
        "mapreduce.job.speculative.retry-after-speculate": "1000",
    }
    with faulty_job(lab, "speculative", *points, *second, conf=conf) as job:
        for first, other in zip(points, second, strict=True):
            job.held(first.name)
            job.release(other.name)
        both = ("m_000000_0", "m_000000_1")
        assert all((job.output_of(name) / "manifest").is_file() for name in both)
        job.succeeded()
        after = {name: attempt.state for name, attempt in job.attempts().items()}
        assert [after[name] for name in (*both, "r_000000_1")] == ["KILLED", *["SUCCEEDED"] * 2]
        # The job may end before this one has.
        assert after.get("r_000000_0", "KILLED") == "KILLED"
    assert digests(lab, "speculative") == undisturbed


# ---- Jobs that are killed.


@pytest.mark.long
@pytest.mark.parametrize("program", ["yarn", pytest.param("mapred", marks=pytest.mark.nightly)])
def test_a_job_killed_in_its_reduce_phase_leaves_nothing(lab: Lab, program: str) -> None:
    last = halves()["r_000000_0"]
    with faulty_job(lab, f"killed-by-{program}", last) as job:
        job.held(last.name)
        # A container whose task is done ends itself, long before MapReduce would end it.
        poll(
            job.tasks, lambda left: left == {"r_000000_0"}, EXIT_SECONDS, "the others' JVMs to end"
        )
        assert job.outputs()
        if program == "yarn":
            yarn(lab, "application", "-kill", job.application)
        else:
            mapred(lab, "-kill", f"job_{job.number}")
        job.end()
        assert isinstance(job.failure, VasError)
