"""The shuffle's contract on the lab's real YARN, with map output on the nodes' own disks.

The cases are those of test_shuffle_in_lab.py: jobs of any shape, Hadoop's examples, an uber job and
speculation; the same bytes as stock's, the same counters. Each runs by segments and by merges of
the daemon, which gives segments where it cannot merge (a comparator of the job's own, encryption).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import pytest

from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.covering import Row
from vas_tests.faults import Point, attempt, faulty_job
from vas_tests.faults import digests as digests_of_faulty
from vas_tests.in_lab import history
from vas_tests.shuffle_cases import (
    EXAMPLES,
    PROBE,
    PROBE_VALUES,
    PROBES,
    PROGRAM_VALUES,
    PROGRAMS,
    case_name,
    properties,
)
from vas_tests.shuffle_counters import assert_counted_alike, assert_large_records_counted
from vas_tests.shuffle_runs import at_once, digests, make_inputs, run
from vas_tests.shuffled import PROGRAM, WITH_DAEMON
from vas_yarn.jobs.job import JobResult
from vas_yarn.profiles import NODE_SHUFFLE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PROGRAM.exists(), reason="vas-shuffled is not built"),
]

_DELIVERIES = ("segments", "merged")
_TWO_REDUCERS = {"mapreduce.job.reduces": "2"}
_OUTPUT, _HALF = "part-r-", 500


@pytest.fixture(scope="module")
def node_lab() -> Iterator[Lab]:
    options = LabOptions(
        state_dir=REPOSITORY / "build" / "lab" / "jbs-contract", hosts=4, properties=WITH_DAEMON
    )
    with Lab.start(options, tied=True) as started:
        yield started


@pytest.fixture(scope="module")
def inputs(node_lab: Lab) -> None:
    make_inputs(node_lab)


def ours(delivery: str) -> dict[str, str]:
    return dict(NODE_SHUFFLE) | {"vas.shuffled.delivery": delivery}


def here(row: Row) -> Row:
    """A row without the layout of files on Lustre."""
    return {column: value for column, value in row.items() if column != "layout"}


def compare(
    lab: Lab, program: tuple[str, ...], conf: Mapping[str, str]
) -> tuple[JobResult, list[JobResult]]:
    """Runs a program by stock's shuffle and by each delivery; asserts that their files are equal.

    Returns stock's run, and ours.
    """
    stock, *every = at_once(
        partial(run, lab, program, "stock", conf),
        *(partial(run, lab, program, name, {**conf, **ours(name)}) for name in _DELIVERIES),
    )
    expected = digests(lab, "stock")
    assert expected
    for name in _DELIVERIES:
        assert digests(lab, name) == expected, name
    return stock, every


@pytest.mark.parametrize("row", map(here, PROBES), ids=case_name)
def test_a_job_of_any_shape(node_lab: Lab, row: Row) -> None:
    stock, every = compare(node_lab, PROBE, properties(row, PROBE_VALUES))
    for job in every:
        if (row["data"], row["runs"]) == ("large", "several"):
            assert_large_records_counted(stock, job)
        else:
            assert_counted_alike(stock, job, same_format=row["codec"] == "none")


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("row", map(here, EXAMPLES), ids=case_name)
def test_an_example_of_hadoops(node_lab: Lab, row: Row) -> None:
    program = PROGRAMS[row["program"]]
    stock, every = compare(node_lab, program, _TWO_REDUCERS | properties(row, PROGRAM_VALUES))
    for job in every:
        assert_counted_alike(stock, job, same_format=row["codec"] == "none")


@pytest.mark.usefixtures("inputs")
def test_a_job_that_runs_in_its_master_has_stocks_shuffle(node_lab: Lab) -> None:
    conf = {"mapreduce.job.ubertask.enable": "true", "mapreduce.job.reduces": "1"}
    stock, every = compare(node_lab, PROGRAMS["wordcount"], conf)
    for job in every:
        assert history(node_lab, f"mapreduce/jobs/{job.job_id}")["job"]["uberized"]
        assert job.counter("SPILLED_RECORDS") == stock.counter("SPILLED_RECORDS") > 0
        assert "VAS shuffle" not in job.counters


def test_reducers_that_start_after_the_first_map(node_lab: Lab) -> None:
    conf = properties({"data": "spread", "reducers": "2"}, PROBE_VALUES) | {
        "probe.maps": "8",
        "mapreduce.job.running.map.limit": "2",
        "mapreduce.job.reduce.slowstart.completedmaps": "0.05",
    }
    stock, every = compare(node_lab, PROBE, conf)
    for job in every:
        assert_counted_alike(stock, job, same_format=True)
        tasks = history(node_lab, f"mapreduce/jobs/{job.job_id}/tasks")["tasks"]["task"]
        last_map = max(task["finishTime"] for task in tasks if task["type"] == "MAP")
        assert max(task["startTime"] for task in tasks if task["type"] == "REDUCE") < last_map


@pytest.mark.parametrize("delivery", _DELIVERIES)
def test_of_two_attempts_of_a_task_one_counts(node_lab: Lab, delivery: str) -> None:
    """A map is slow before its first record, a reducer at half of its output."""
    points = (
        Point("slow-map", attempt("m_000000_0"), "open", r"job\.split$"),
        Point("slow-reducer", attempt("r_000000_0"), "write", _OUTPUT, nth=_HALF),
    )
    conf = {
        "mapreduce.map.speculative": "true",
        "mapreduce.reduce.speculative": "true",
        "mapreduce.job.speculative.retry-after-speculate": "1000",
        "mapreduce.job.tags": "",
    }
    with faulty_job(node_lab, "undisturbed", conf=ours(delivery)) as job:
        job.succeeded()
    with faulty_job(node_lab, "speculative", *points, conf=conf | ours(delivery)) as job:
        job.held("slow-reducer")
        job.succeeded()
        after = {name: each.state for name, each in job.attempts().items()}
    assert after["m_000000_1"] == after["r_000000_1"] == "SUCCEEDED"
    # The job may end before these have.
    assert {after.get(name, "KILLED") for name in ("m_000000_0", "r_000000_0")} == {"KILLED"}
    assert digests_of_faulty(node_lab, "speculative") == digests_of_faulty(node_lab, "undisturbed")
