"""`vas bench spark`: subjects, goals, what is counted of files and rows, and who is killed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vas_bench.results.measures import measure_of
from vas_bench.results.record import BenchRun, make_run
from vas_bench.results.systems import SparkShuffle
from vas_bench.shuffle.goals import GoalRow, rows
from vas_bench.spark.application import executor_of
from vas_bench.spark.command import goals
from vas_bench.spark.map_files import files_per_map
from vas_bench.spark.output import RowSum, row_sum
from vas_bench.spark.subjects import (
    KILLED,
    OWN,
    QUERIES,
    SERVICE,
    SORT,
    VAS,
    WORKLOADS,
    subjects,
)
from vas_bench.spark.suite import QUERIES as SQL
from vas_bench.spark.suite import tables
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_yarn.spark.eventlog import application_seconds

GIB = 1 << 30
JOB_TIME = "sort: job time / with Spark's service"


def run(system: SparkShuffle, number: int, seconds: float, checksum: str = "sum") -> BenchRun:
    """A run of the sort whose measures are all the same but for its seconds."""
    names = {goal.measure for each in goals().values() for goal in each}
    return make_run(
        id=f"{system}-{number}",
        time="2026-01-01T00:00:00Z",
        workload="spark-sort",
        system=system,
        round=number,
        measures=dict.fromkeys(names, 2.0) | {"job_seconds": seconds},
        validation={"ok": True, "checksum": checksum},
    )


def found(runs: list[BenchRun]) -> dict[str, GoalRow]:
    return {row.name: row for row in rows("sort", goals()[SORT], runs, SERVICE)}


def test_the_goals_are_those_that_were_set() -> None:
    limits = [
        (kind, goal.measure, goal.over, goal.limit)
        for kind, each in goals().items()
        for goal in each
        if goal.limit is not None
    ]
    assert limits == [
        (SORT, "job_seconds", SERVICE, 0.95),
        (SORT, "files_per_map", None, 2),
        (QUERIES, "job_seconds", SERVICE, 0.95),
        (QUERIES, "files_per_map", None, 2),
        (KILLED, "job_seconds", SERVICE, 0.75),
        (KILLED, "files_per_map", None, 2),
    ]


def test_every_goal_is_of_a_system_that_runs_and_of_a_measure_that_is_known() -> None:
    jobs = subjects(WORKLOADS, GIB, 4)
    assert set(goals()) == set(jobs)
    for kind, each in goals().items():
        for goal in each:
            assert {*goal.systems, SERVICE} <= {it.system for it in jobs[kind]}, goal.row
            assert measure_of(goal.measure), goal.row


def test_a_ratio_is_that_of_rounds_which_both_systems_have() -> None:
    # The machine is busier from round to round: the ratio is that of each round.
    runs = [run(SERVICE, n, 10.0 * 2**n) for n in (1, 2, 3, 4)]
    runs += [run(VAS, n, 9.0 * 2**n) for n in (4, 3, 1)]
    row = found(runs)[JOB_TIME]
    assert (row.value, row.interval, row.n, row.met) == (0.9, (0.9, 0.9), 3, True)
    assert row.p == 0.25, "the least of three pairs"


def test_another_output_than_the_services_makes_a_row_invalid() -> None:
    rows_ = found([run(SERVICE, 1, 10.0), run(VAS, 1, 9.0, checksum="other")])
    assert "its output is other" in rows_[JOB_TIME].invalid


def test_only_the_kill_runs_without_a_service() -> None:
    jobs = subjects(WORKLOADS, GIB, 4)
    systems = {kind: [it.system for it in each] for kind, each in jobs.items()}
    assert systems == {
        SORT: [SERVICE, VAS], QUERIES: [SERVICE, VAS], KILLED: [OWN, SERVICE, VAS],
    }  # fmt: skip
    for each in jobs.values():
        for subject in each:
            with_service = "spark.shuffle.service.enabled" in subject.properties
            assert with_service == (subject.system == SERVICE)
            assert ("--stock-shuffle" in subject.options) == (subject.system != VAS)
            alike = {k: v for k, v in subject.properties.items() if ".service." not in k}
            assert alike == each[-1].properties, "all else is the same"


@pytest.mark.parametrize(
    ("paths", "most"),
    [
        ([], 0),
        (
            [
                f"yarn/staging/ann/.staging/job_7_0001/shuffle/{directory}/shuffle_0/{name}"
                for directory in ("application_7_0001-3", "removed-application_7_0001-3")
                for name in ("map_4.data", "map_4.index", "map_4.index.tmp", "map_5.index")
            ],
            2,
        ),
        (
            [
                f"nodes/vm1/local/usercache/ann/appcache/{application}/blockmgr-1/0f/" + name
                for name in (
                    "shuffle_0_4_0.data",
                    "shuffle_0_4_0.index",
                    "shuffle_0_4_0.checksum.ADLER32",
                    "shuffle_1_4_0.data",
                    "shuffle_0_14_0.data",
                )
                for application in ("application_7_0001", "application_7_0002")
            ],
            3,
        ),
    ],
)
def test_files_are_counted_for_each_map_task(paths: list[str], most: int) -> None:
    assert files_per_map(paths, "application_7_0001") == most


def write_rows(directory: Path, parts: list[list[bytes]]) -> RowSum:
    directory.mkdir()
    for number, lines in enumerate(parts):
        text = b"".join(line.ljust(99, b".") + b"\n" for line in lines)
        (directory / f"part-{number:05d}-x.txt").write_bytes(text)
    return row_sum(directory)


def test_sorted_rows_are_those_of_the_input(tmp_path: Path) -> None:
    lots = random.Random(1)
    lines = [b"%032x" % lots.getrandbits(128) for _ in range(1000)]
    given = write_rows(tmp_path / "in", [lines[:400], lines[400:]])
    ordered = sorted(lines)
    right = write_rows(tmp_path / "right", [ordered[:10], [], ordered[10:]])
    assert (given.rows, given.in_order) == (1000, False)
    assert right == RowSum(1000, given.checksum, True)
    # Each file is in order, and the second begins before the first one's end.
    assert not write_rows(tmp_path / "parts", [ordered[500:], ordered[:500]]).in_order
    twice = write_rows(tmp_path / "twice", [sorted([*ordered[1:], ordered[1]])])
    assert (twice.rows, twice.in_order, twice.checksum == right.checksum) == (1000, True, False)


def test_words_that_two_rows_have_exchanged_are_seen(tmp_path: Path) -> None:
    one = write_rows(tmp_path / "one", [[b"aaaabbbb", b"ccccdddd"]])
    other = write_rows(tmp_path / "other", [[b"aaaadddd", b"ccccbbbb"]])
    assert one.in_order and other.in_order
    assert one.checksum != other.checksum


def test_half_a_row_is_not_in_order(tmp_path: Path) -> None:
    (tmp_path / "part-0").write_bytes(b"a" * 150)
    assert not row_sum(tmp_path).in_order


def test_every_query_is_of_tables_that_are_made() -> None:
    made = tables(1200)
    assert {name: rows_ for name, (rows_, _) in made.items()} == {
        "lines": 1200, "orders": 300, "customers": 30, "parts": 40,
    }  # fmt: skip
    assert len(SQL) == 6
    words = set(" ".join(SQL.values()).replace("(", " ").replace(")", " ").split())
    assert set(made) <= words


@pytest.mark.machine
def test_the_first_executor_of_the_application_is_found() -> None:
    def start(*words: str) -> subprocess.Popen[bytes]:
        # It says that it runs this program, whose words /proc shows from then on.
        code = "print(flush=True); input()"
        process = subprocess.Popen(
            [sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        return process

    name = "application_1_0077"
    others = [
        start("--executor-id", "2", "--app-id", name),
        start("--executor-id", "1", "--app-id", "application_1_0078"),
        start(f"java --executor-id 1 --app-id {name}"),
    ]
    first = start("--executor-id", "1", "--app-id", name)
    try:
        assert executor_of(name) == first.pid
    finally:
        for process in (*others, first):
            process.communicate(b"\n")
    with pytest.raises(LookupError):
        executor_of(name)


def test_an_application_takes_from_its_first_event_to_its_last(tmp_path: Path) -> None:
    log = tmp_path / "log"
    start = {"Event": "SparkListenerApplicationStart", "App Name": "a", "Timestamp": 1500}
    between = {"Event": "SparkListenerJobStart", "Timestamp": 7}
    end = {"Event": "SparkListenerApplicationEnd", "Timestamp": 4000}
    for events, seconds in (((start, between, end), 2.5), ((start, between), None)):
        lines = (json.dumps(event, separators=(",", ":")) + "\n" for event in events)
        log.write_text("".join(lines))
        if seconds is not None:
            assert application_seconds(log) == seconds
            continue
        with pytest.raises(BadInput, match="no end"):
            application_seconds(log)


def test_a_dry_run_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "spark", "--dry-run", "--rounds", "2", "--size", "256M"]
    assert run_command(words) == 0
    assert capsys.readouterr().out.count("six queries of 256 MiB, spark-vas") == 2
    assert run_command([*words, "--workload", KILLED]) == 0
    printed = capsys.readouterr().out
    assert printed.count("killed") == 6 and "queries" not in printed


def as_json(row: GoalRow) -> dict[str, Any]:
    return dict(json.loads(json.dumps(row.as_json())))


def test_a_row_without_a_goal_is_printed_without_one() -> None:
    row = found([run(SERVICE, 1, 10.0), run(VAS, 1, 9.0)])["sort: requests to the file system"]
    assert as_json(row)["goal"] is None and row.value == 2.0
