"""Programs of Hadoop's on the nodes' own disks, in a lab: the rest of the shuffle's contract.

The cases are those of test_shuffle_in_lab.py: Hadoop's examples, an uber job, reducers that start
early, and speculation; the same bytes as stock's, the same counters.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vas_lab.lab import Lab
from vas_tests.covering import Row
from vas_tests.faults import Point, attempt, faulty_job
from vas_tests.faults import digests as digests_of_faulty
from vas_tests.in_lab import history
from vas_tests.jbs_contract import WAYS, assert_alike, compare, contract_lab, here
from vas_tests.shuffle_cases import (
    EXAMPLES,
    PROBE,
    PROBE_VALUES,
    PROGRAM_VALUES,
    PROGRAMS,
    case_name,
    properties,
)
from vas_tests.shuffle_counters import assert_copied_alike
from vas_tests.shuffle_runs import make_inputs
from vas_tests.shuffled import PROGRAM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PROGRAM.exists(), reason="vas-shuffled is not built"),
]

_TWO_REDUCERS = {"mapreduce.job.reduces": "2"}
# The jobs of faults have VAS's shuffle on Lustre, unless they say otherwise.
_STOCK_MAPS = {
    "mapreduce.job.map.output.collector.class": "org.apache.hadoop.mapred.MapTask$MapOutputBuffer"
}
_OUTPUT, _HALF = "part-r-", 500


@pytest.fixture(scope="module")
def node_lab() -> Iterator[Lab]:
    with contract_lab("jbs-examples") as started:
        yield started


@pytest.fixture(scope="module")
def inputs(node_lab: Lab) -> None:
    make_inputs(node_lab)


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("row", [here(row) for row in EXAMPLES], ids=case_name)
def test_an_example_of_hadoops(node_lab: Lab, row: Row) -> None:
    conf = _TWO_REDUCERS | properties(row, PROGRAM_VALUES)
    assert_alike(row, *compare(node_lab, PROGRAMS[row["program"]], conf))


@pytest.mark.usefixtures("inputs")
def test_a_job_that_runs_in_its_master_has_stocks_shuffle(node_lab: Lab) -> None:
    conf = {"mapreduce.job.ubertask.enable": "true", "mapreduce.job.reduces": "1"}
    stock, ways = compare(node_lab, PROGRAMS["wordcount"], conf)
    for job in ways.values():
        assert history(node_lab, f"mapreduce/jobs/{job.job_id}")["job"]["uberized"]
        assert job.counter("SPILLED_RECORDS") == stock.counter("SPILLED_RECORDS") > 0
        assert "VAS shuffle" not in job.counters


def test_reducers_that_start_after_the_first_map(node_lab: Lab) -> None:
    conf = properties({"data": "spread", "reducers": "2"}, PROBE_VALUES) | {
        "probe.maps": "8",
        "mapreduce.job.running.map.limit": "2",
        "mapreduce.job.reduce.slowstart.completedmaps": "0.05",
    }
    stock, ways = compare(node_lab, PROBE, conf)
    assert_copied_alike(stock, ways["copied"])
    for job in ways.values():
        tasks = history(node_lab, f"mapreduce/jobs/{job.job_id}/tasks")["tasks"]["task"]
        last_map = max(task["finishTime"] for task in tasks if task["type"] == "MAP")
        assert max(task["startTime"] for task in tasks if task["type"] == "REDUCE") < last_map


@pytest.mark.parametrize("way", WAYS)
def test_of_two_attempts_of_a_task_one_counts(node_lab: Lab, way: str) -> None:
    """A map is slow before its first record, a reducer at half of its output."""
    points = (
        Point("slow-map", attempt("m_000000_0"), "open", r"job\.split$"),
        Point("slow-reducer", attempt("r_000000_0"), "write", _OUTPUT, nth=_HALF),
        # On a busy machine it may be begun, and be done, before the slow one is at its half.
        Point("second-reducer", attempt("r_000000_1"), "write", _OUTPUT, nth=_HALF),
    )
    conf = {
        "mapreduce.map.speculative": "true",
        "mapreduce.reduce.speculative": "true",
        "mapreduce.job.speculative.retry-after-speculate": "1000",
        "mapreduce.job.tags": "",
    }
    with faulty_job(node_lab, "undisturbed", conf={**_STOCK_MAPS, **WAYS[way]}) as job:
        job.succeeded()
    with faulty_job(
        node_lab, "speculative", *points, conf={**_STOCK_MAPS, **WAYS[way], **conf}
    ) as job:
        job.held("slow-reducer")
        job.release("second-reducer")
        job.succeeded()
        after = {name: each.state for name, each in job.attempts().items()}
    assert after["m_000000_1"] == after["r_000000_1"] == "SUCCEEDED"
    # The job may end before these have.
    assert {after.get(name, "KILLED") for name in ("m_000000_0", "r_000000_0")} == {"KILLED"}
    assert digests_of_faulty(node_lab, "speculative") == digests_of_faulty(node_lab, "undisturbed")
