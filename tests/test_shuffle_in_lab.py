"""Stock shuffle against ours on the lab's real YARN: the same bytes out, the same counters."""

from __future__ import annotations

from functools import partial

import pytest

from vas_lab.lab import Lab
from vas_tests.covering import Row
from vas_tests.faults import MANIFEST, Point, attempt, faulty_job
from vas_tests.faults import digests as digests_of_faulty
from vas_tests.in_lab import history
from vas_tests.shuffle_cases import (
    EXAMPLES,
    JAR,
    OURS,
    PROBE,
    PROBE_VALUES,
    PROBES,
    PROGRAM_VALUES,
    PROGRAMS,
    case_name,
    properties,
)
from vas_tests.shuffle_counters import assert_counted_alike, assert_large_records_counted
from vas_tests.shuffle_runs import (
    ALIKE,
    assert_nothing_left,
    at_once,
    digests,
    files,
    make_inputs,
    run,
)
from vas_yarn.jobs.job import JobResult

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

# So many of the probes run every time, and so many in CI: each is two jobs.
_USUAL, _CI = 1, 7
# Each is six jobs.
_CI_PROGRAMS = ("secondarysort",)
_NIGHTLY_PROGRAMS = [name for name in PROGRAMS if name not in _CI_PROGRAMS]
_TWO_REDUCERS = {"mapreduce.job.reduces": "2"}


@pytest.fixture(scope="module")
def inputs(lab: Lab) -> JobResult:
    """The programs' input; gives TeraGen's run."""
    return make_inputs(lab)


@pytest.mark.parametrize("row", PROBES[:_USUAL], ids=case_name)
def test_a_job_of_any_shape(lab: Lab, row: Row) -> None:
    compare(lab, row)


@pytest.mark.long
@pytest.mark.parametrize("row", PROBES[_USUAL:_CI], ids=case_name)
def test_a_job_of_any_other_shape(lab: Lab, row: Row) -> None:
    compare(lab, row)


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.parametrize("row", PROBES[_CI:], ids=case_name)
def test_a_job_of_every_other_shape(lab: Lab, row: Row) -> None:
    compare(lab, row)


def compare(lab: Lab, row: Row) -> None:
    """Stock and ours: the same files, counters that agree, nothing left."""
    conf = properties(row, PROBE_VALUES)
    stock, ours = at_once(
        partial(run, lab, PROBE, "stock", conf),
        partial(run, lab, PROBE, "ours", {**conf, **OURS}),
    )
    expected = digests(lab, "stock")
    assert len(expected) == int(row["reducers"])
    assert digests(lab, "ours") == expected
    if (row["data"], row["runs"]) == ("large", "several"):
        assert_large_records_counted(stock, ours)
    else:
        assert_counted_alike(stock, ours, same_format=row["codec"] == "none")
    assert_nothing_left(lab, ours)


@pytest.mark.long
@pytest.mark.parametrize(
    "program",
    [*_CI_PROGRAMS, *(pytest.param(p, marks=pytest.mark.nightly) for p in _NIGHTLY_PROGRAMS)],
)
def test_an_example_of_hadoops(lab: Lab, inputs: JobResult, program: str) -> None:
    rows = [row for row in EXAMPLES if row["program"] == program]
    argv = PROGRAMS[program]
    stock, *every = at_once(
        partial(run, lab, argv, "stock", _TWO_REDUCERS),
        *(
            partial(run, lab, argv, f"ours-{row['codec']}", _TWO_REDUCERS | of_ours(row))
            for row in rows
        ),
    )
    expected = digests(lab, "stock")
    assert len(expected) == 2
    for row, ours in zip(rows, every, strict=True):
        assert digests(lab, f"ours-{row['codec']}") == expected, case_name(row)
        same_format = row["codec"] == "none" and row["encryption"] == "plain"
        assert_counted_alike(stock, ours, same_format=same_format)
        assert_nothing_left(lab, ours)
    if program == "terasort":
        tera_validate(lab, "ours-gzip", inputs.counter("CHECKSUM"))


def of_ours(row: Row) -> dict[str, str]:
    """The properties of an example's row, in our shuffle."""
    return {**properties(row, PROGRAM_VALUES), **OURS}


def tera_validate(lab: Lab, output: str, checksum: int) -> None:
    """TeraValidate finds all that TeraGen made, in order; it uses our shuffle too."""
    run(lab, ("teravalidate", f"/shuffle/out/{output}"), "report", OURS)
    (report,) = [path for path in files(lab, "report") if path.endswith("part-r-00000")]
    word, found = lab.call(["cat", report]).stdout.split()
    assert word == "checksum"
    assert (int(found, 16) - checksum) % (1 << 64) == 0


@pytest.mark.long
@pytest.mark.usefixtures("inputs")
def test_sort_validator_finds_the_sorted_text_right(lab: Lab) -> None:
    texts = PROGRAMS["sort"][PROGRAMS["sort"].index("-outKey") :]
    sort = ("sort", "-r", "2", *texts)
    run(lab, sort, "sorted", OURS)
    # The jar that the class is in has a driver as its main class, which wants yet another jar.
    validator = (JAR, "org.apache.hadoop.mapred.SortValidator")
    validated = lab.run_job(
        [*validator, "-sortInput", texts[-1], "-sortOutput", "/shuffle/out/sorted"],
        {**ALIKE, **OURS},
    )
    assert validated.state == "SUCCEEDED"
    assert validated.counter("MOFS_OPENED") > 0


@pytest.mark.long
def test_reducers_that_start_after_the_first_map(lab: Lab) -> None:
    """The last map waits until both reducers have begun to read what another one left."""
    last = Point("last-map", attempt("m_000007_0"), "rename", MANIFEST)
    begun = [Point(f"begun-{r}", attempt(f"r_{r:06}_0"), "open", MANIFEST) for r in range(2)]
    conf = properties({"data": "spread", "reducers": "2"}, PROBE_VALUES) | {
        "probe.maps": "8",
        "mapreduce.job.running.map.limit": "2",
        "mapreduce.job.reduce.slowstart.completedmaps": "0.05",
    }

    def run_ours() -> JobResult:
        with faulty_job(lab, "early-reducers", last, *begun, conf=conf) as job:
            for point in begun:
                job.held(point.name)
                job.release(point.name)
            job.release(last.name)
            return job.succeeded()

    stock, ours = at_once(partial(run, lab, PROBE, "stock", conf), run_ours)
    assert digests_of_faulty(lab, "early-reducers") == digests(lab, "stock")
    assert_counted_alike(stock, ours, same_format=True)
    tasks = history(lab, f"mapreduce/jobs/{ours.job_id}/tasks")["tasks"]["task"]
    map_ends = sorted(task["finishTime"] for task in tasks if task["type"] == "MAP")
    reduce_starts = [task["startTime"] for task in tasks if task["type"] == "REDUCE"]
    assert max(reduce_starts) < map_ends[-1]


@pytest.mark.long
@pytest.mark.usefixtures("inputs")
def test_a_job_that_runs_in_its_master_has_stocks_shuffle(lab: Lab) -> None:
    conf = {"mapreduce.job.ubertask.enable": "true", "mapreduce.job.reduces": "1"}
    stock, ours = at_once(
        partial(run, lab, PROGRAMS["wordcount"], "stock", conf),
        partial(run, lab, PROGRAMS["wordcount"], "ours", {**conf, **OURS}),
    )
    assert history(lab, f"mapreduce/jobs/{ours.job_id}")["job"]["uberized"]
    assert digests(lab, "ours") == digests(lab, "stock")
    assert ours.counter("SPILLED_RECORDS") == stock.counter("SPILLED_RECORDS") > 0
    assert "VAS shuffle" not in ours.counters


@pytest.mark.nightly
@pytest.mark.long
def test_a_gibibyte_of_equal_keys(lab: Lab) -> None:
    conf = {
        "mapreduce.job.reduces": "1",
        "probe.keys": "1",
        "probe.maps": "4",
        "probe.records": str(1 << 14),
        "probe.value-bytes": "16k",
        "probe.least-value-bytes": "16k",
    }
    stock, ours = at_once(
        partial(run, lab, PROBE, "stock", conf),
        partial(run, lab, PROBE, "ours", {**conf, **OURS}),
    )
    assert ours.counter("MAP_OUTPUT_BYTES") > 1 << 30
    assert ours.counter("REDUCE_INPUT_GROUPS") == 1
    assert digests(lab, "ours") == digests(lab, "stock")
    assert_counted_alike(stock, ours, same_format=True)
