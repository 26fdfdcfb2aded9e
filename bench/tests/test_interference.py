"""Interference, pure: sizes, turns, fio's command lines and JSON, verdicts, kept turns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_bench.engine.observe import Observer
from vas_bench.engine.rounds import Round, RunIdentity, draw_rounds, missing
from vas_bench.interference import fio
from vas_bench.interference.lab_stage import outside
from vas_bench.interference.load import in_a_loop
from vas_bench.interference.rounds import (
    InterferenceSubject,
    identity,
    observed,
    patterns_of,
)
from vas_bench.interference.scope import (
    ALONE,
    EMULATED,
    LAB,
    PATTERN_NAMES,
    PATTERNS,
    SITE,
    ArmName,
    Scope,
    paper,
    with_guest,
)
from vas_bench.interference.sizes import sizes
from vas_bench.interference.target import InterferenceRequest
from vas_bench.interference.verdict import COLUMNS, LOAD_COLUMNS, rates_of, verdict
from vas_bench.results.measures import INTERFERENCE
from vas_bench.results.record import BenchRun
from vas_core.cli import run_command
from vas_core.errors import VasError
from vas_core.root import Root
from vas_yarn.jobs.events import Event
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.place import OnEvent
from vas_yarn.jobs.systems import ARMS as LAB_ARMS
from vas_yarn.jobs.systems import Arm

ARMS = LAB.arms
REPORT = (Path(__file__).parent / "fio/random-write.json").read_text()
WRITE = next(each for each in PATTERNS if each.name == "random write")
READ = next(each for each in PATTERNS if each.name == "sequential read")


REQUEST = InterferenceRequest(seconds=5, size=1 << 20, system="vas")


def of_arms(arms: Iterable[ArmName]) -> list[RunIdentity[InterferenceSubject]]:
    return [identity(arm, REQUEST, {}) for arm in arms]


def played(
    arm: ArmName,
    number: int,
    rate: float,
    *,
    jobs: tuple[float, ...] = (),
    warm_up: bool = False,
) -> BenchRun:
    """A run of which every pattern has the same rate."""
    seen = observed(dict.fromkeys(PATTERN_NAMES, rate), jobs)
    observer = Observer(INTERFERENCE, "made up", {}, dict, lambda: datetime(2026, 1, 1, tzinfo=UTC))
    return observer.observe(Round(identity(arm, REQUEST, {}), number, warm_up), lambda: seen)


def session(rounds: int = 6, *, host: float = 0.8, guest: float = 1.0) -> list[BenchRun]:
    """Rounds in which bandwidths drift, and arms keep their distance."""
    return [
        each
        for n in range(1, rounds + 1)
        for each in (
            played(ALONE, n, 1000.0 + n),
            played("host", n, host * (1000.0 + n), jobs=(50.0 + n, 54.0 + n)),
            played("guest", n, guest * (1000.5 + n), jobs=(90.0 + n,)),
        )
    ]


# Sizes


@given(guests=st.integers(1, 64), processors=st.integers(1, 512))
def test_a_guest_fits_into_its_host_and_the_files_beside_it(guests: int, processors: int) -> None:
    found = sizes(guests, processors)
    assert found.guest_bytes + found.files_bytes < found.host_bytes
    assert 1 <= found.guest_cpus <= max(1, processors - 1)
    assert found.guest_bytes / found.host_bytes == pytest.approx(6 / 8, abs=0.001)


# Rounds


@given(rounds=st.integers(1, 9), warm_up=st.integers(0, 3), seed=st.integers(0, 99))
def test_a_round_has_every_arm_once_and_a_run_every_pattern(
    rounds: int, warm_up: int, seed: int
) -> None:
    drawn = draw_rounds(of_arms(ARMS), rounds=rounds, warm_up=warm_up, seed=seed)
    assert len({each.key for each in drawn}) == len(drawn) == len(ARMS) * (rounds + warm_up)
    for at in range(0, len(drawn), len(ARMS)):
        part = drawn[at : at + len(ARMS)]
        assert {each.experiment.arm for each in part} == set(ARMS)
        assert len({(each.number, each.warm_up) for each in part}) == 1
    assert all(sorted(patterns_of(each, seed)) == sorted(PATTERN_NAMES) for each in drawn)
    assert drawn == draw_rounds(of_arms(ARMS), rounds=rounds, warm_up=warm_up, seed=seed)
    assert [each.warm_up for each in drawn] == sorted((t.warm_up for t in drawn), reverse=True)


def test_more_rounds_leave_the_earlier_ones_as_they_were() -> None:
    few, more = (draw_rounds(of_arms(ARMS), rounds=n, warm_up=1, seed=3) for n in (4, 7))
    assert more[: len(few)] == few


def test_what_was_played_is_not_played_again() -> None:
    drawn = draw_rounds(of_arms(ARMS), rounds=2, warm_up=1, seed=1)
    done = [played("host", 1, 1.0, jobs=(1.0,))]
    left = missing(drawn, done)
    assert len(left) == len(drawn) - 1
    assert any(each.experiment.arm == "host" and each.warm_up for each in left)


# fio


def test_clients_keep_their_files_and_make_writes_durable() -> None:
    clients = fio.Clients("/d", 100 << 20)
    written, read = (fio.measuring(clients, each, 15) for each in (WRITE, READ))
    for argv in (written, read):
        assert {"--directory=/d", "--invalidate=0", "--time_based", "--runtime=15"} < set(argv)
        assert f"--size={50 << 20}" in argv and "--numjobs=2" in argv
    assert "--sync=dsync" in written and "--sync=dsync" not in read
    assert "--rw=randwrite" in written and "--rw=read" in read


def test_files_are_made_and_read_once_as_they_are_measured() -> None:
    def file_options(argv: list[str]) -> set[str]:
        return {word for word in argv if word.startswith(("--name", "--directory", "--size"))}

    clients = fio.Clients("/d", 2 << 20)
    made, once = fio.writing_files(clients), fio.reading_once(clients)
    assert file_options(made) == file_options(once)
    assert file_options(made) == file_options(fio.measuring(clients, READ, 1))
    assert not any("time_based" in word for word in (*made, *once))


def test_the_throughput_is_that_of_all_clients() -> None:
    jobs = json.loads(REPORT)["jobs"]
    assert len(jobs) == 2
    expected = sum(job["write"]["bw_bytes"] for job in jobs)
    assert fio.throughput(REPORT, "write") == expected
    noted = f"client: something of note\nfio: {{ more }}\n{REPORT}"
    assert fio.throughput(noted, "write") == expected


def changed(**fields: Any) -> str:
    document = json.loads(REPORT)
    document["jobs"][1] |= fields
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "no report of fio's", id="nothing"),
        pytest.param(REPORT[:-300], "no report of fio's", id="cut short"),
        pytest.param('{"jobs": [{"jobname": "client"}]}', "no report of fio's", id="other keys"),
        pytest.param('{"jobs": []}', "moved no byte", id="no clients"),
        pytest.param(changed(error=28), "client failed with errno 28", id="full disk"),
        pytest.param(
            changed(write={"io_bytes": 0, "bw_bytes": 0, "runtime": 0}), "moved no byte", id="idle"
        ),
    ],
)
def test_what_says_no_throughput_is_an_error(text: str, said: str) -> None:
    with pytest.raises(VasError, match=said):
        fio.throughput(text, "write")


def test_a_read_of_a_report_on_writes_is_an_error() -> None:
    with pytest.raises(VasError, match="read moved no byte"):
        fio.throughput(REPORT, "read")


# Verdicts


def test_the_host_loses_and_the_guest_does_not() -> None:
    found = verdict(session())
    for name, it in found.patterns:
        assert name in PATTERN_NAMES
        if it.pair.arm == "host":
            assert it.improved is False
            assert it.ratio.value == pytest.approx(0.8)
            assert "20.0 % less throughput than alone" in it.verdict
        elif it.pair.base == ALONE:
            assert it.improved is None
        else:
            assert it.improved is True
    assert found.load is not None and found.load.improved is False


def test_six_rounds_are_the_fewest_that_can_tell() -> None:
    enough, few = verdict(session(6)), verdict(session(5))
    assert {it.enough_runs for _, it in enough.patterns} == {6}
    assert any(it.significant for _, it in enough.patterns)
    assert not any(it.significant for _, it in few.patterns)
    assert all("n=5 never is" in it.verdict for _, it in few.patterns)


def test_warm_ups_are_in_no_figure_and_turns_are_sorted_by_round() -> None:
    with_warm_up = [played("host", 1, 9e9, jobs=(1.0,), warm_up=True), *reversed(session())]
    found = verdict(with_warm_up)
    assert rates_of(found.runs, "random read", ALONE) == [1000.0 + n for n in range(1, 7)]
    assert verdict(session()).as_json() == found.as_json()


def test_the_tables_have_their_columns_and_the_papers_words() -> None:
    found = verdict(session())
    rows, load = list(found.rows()), list(found.load_rows())
    assert {len(row) for row in rows} == {len(COLUMNS)}
    assert {len(row) for row in load} == {len(LOAD_COLUMNS)}
    assert len(rows) == len(PATTERNS) * 4
    said = {(row[0], row[1]): row[COLUMNS.index("PAPER")] for row in rows}
    assert said["sequential read", "host"] == "-11.9 %"
    assert said["random read", "host"] == "-15.2 %"
    assert said["random read", "guest"] == "negligible"
    assert said["random write", "host"] == "comparable"
    assert said["random write", "guest over host"] == ""
    assert [row[:3] for row in load] == [("host", 6, 12), ("guest", 6, 6)]


def test_json_names_arm_base_and_what_the_paper_says() -> None:
    found = json.loads(json.dumps(verdict(session()).as_json()))
    assert list(found) == ["turns", "comparisons", "jobs"]
    assert len(found["comparisons"]) == 12
    for it in found["comparisons"]:
        expected = paper(it["pattern"], it["arm"]) if it["base"] == ALONE else None
        assert it["paper"] == expected
        assert it["interval"][0] <= it["ratio"] <= it["interval"][1]


def test_beside_an_emulated_guest_clients_are_compared_and_jobs_are_not() -> None:
    beside = [played(EMULATED, n, 0.5 * (1000.0 + n), jobs=(400.0,)) for n in range(1, 7)]
    found = verdict([*session(), *beside])
    assert len(found.patterns) == len(PATTERNS) * 4
    of_it = [it for _, it in found.patterns if it.pair.arm == EMULATED]
    assert {it.pair.base for it in of_it} == {ALONE}
    assert all(it.improved is False for it in of_it)
    *_, row = found.load_rows()
    assert row[:4] == (EMULATED, 6, 6, "400.0")
    assert "not compared" in str(row[-1])
    assert found.load is not None and found.load.pair.arm == "guest"


def test_on_a_site_nothing_is_held_against_the_arm_that_is_not_there() -> None:
    found = verdict([run for run in session() if run.system != "host"])
    assert {(it.pair.arm, it.pair.base) for _, it in found.patterns} == {("guest", ALONE)}
    assert found.load is None and found.as_json()["jobs"] is None
    assert [row[0] for row in found.load_rows()] == ["guest"]


@pytest.mark.parametrize("scope", [LAB, SITE, with_guest(kvm=False), with_guest(kvm=True)])
def test_every_arm_is_explained_or_said_to_be_missing(scope: Scope) -> None:
    assert {*scope.arms, *scope.absent} >= {"alone", "host", "guest"}
    assert not scope.arms.keys() & scope.absent.keys()
    assert any(line.startswith("not shown:") for line in scope.shown)


# The job in a loop


class FakeJob:
    """Ends its first run only when it is told to."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong, self.runs, self.discarded = wrong, 0, 0
        self.go_on = Flag()

    def run(self, arm: Arm, *, on_event: OnEvent) -> JobResult:
        on_event(Event(kind="progress", text="application_1_1 waits for its first container"))
        if self.wrong == "before":
            raise VasError("no job")
        on_event(Event(kind="progress", text="application_1_1: map 0 %, reduce 0 %"))
        assert self.go_on.wait(60)
        if self.wrong == "later":
            raise VasError("no job")
        self.runs += 1
        times = dict.fromkeys(("seconds", "client_seconds", "wall_seconds", "cpu_seconds"), 7.0)
        ids = {"application_id": "a", "job_id": "j", "state": "SUCCEEDED"}
        return JobResult.model_validate({**times, **ids, "counters": {}, "map_counters": {}})

    def discard(self, arm: Arm) -> None:
        self.discarded += 1


def test_the_body_begins_with_the_first_job_and_the_last_one_ends() -> None:
    job = FakeJob()
    with in_a_loop(job, LAB_ARMS[0], lambda: None) as seconds:
        assert job.runs == 0
        job.go_on.set()
    assert job.runs == job.discarded == len(seconds) >= 1
    assert set(seconds) == {7.0}


@pytest.mark.parametrize("wrong", ["before", "later"])
def test_a_job_that_fails_fails_the_turn(wrong: str) -> None:
    job = FakeJob(wrong)
    with pytest.raises(VasError, match="no job"), in_a_loop(job, LAB_ARMS[0], lambda: None):
        job.go_on.set()


def test_a_body_that_fails_has_the_job_given_up() -> None:
    job = FakeJob()
    with pytest.raises(VasError, match="no fio"), in_a_loop(job, LAB_ARMS[0], job.go_on.set):
        raise VasError("no fio")
    assert job.go_on.is_set()


# A lab's processes


def process(root: Path, pid: int, namespace: int, ids: str) -> None:
    directory = root / "proc" / str(pid)
    (directory / "ns").mkdir(parents=True)
    (directory / "status").write_text(f"Name:\tjava\nNSpid:\t{ids}\nThreads:\t1\n")
    (directory / "ns/pid").symlink_to(f"pid:[{namespace}]")


def test_a_labs_processes_are_found_outside_of_it(tmp_path: Path) -> None:
    process(tmp_path, 100, 1, "100")
    for pid, inner in ((200, 1), (201, 7), (202, 9)):
        process(tmp_path, pid, 2, f"{pid}\t{inner}")
    process(tmp_path, 300, 3, "300\t7")
    root = Root(tmp_path)
    assert outside(root, 200, [9, 7]) == [202, 201]
    assert outside(root, 300, [7]) == [300]
    with pytest.raises(VasError, match="process 8 is not there"):
        outside(root, 200, [7, 8])
    with pytest.raises(VasError, match="is not there"):
        outside(root, 999, [])


# The command


def test_dry_run_says_what_would_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "interference", "--dry-run", "--rounds", "2"]) == 0
    out, err = capsys.readouterr()
    assert sum(line.startswith("round") for line in out.splitlines()) == 6
    assert sum(line.startswith("warm-up") for line in out.splitlines()) == 3
    assert "estimated" in err and "of which a guest has" in err
