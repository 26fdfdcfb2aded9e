"""Two HSph-like runs on work that is made up: their order, what is in T, and when there is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import made_up_run

from vas_bench.engine.play import Budget
from vas_bench.engine.rounds import RunIdentity
from vas_bench.hsph.energy import EnergyMeter, RaplZone, joules_between, read_zones
from vas_bench.hsph.metric import NOT_TPC, PHASES
from vas_bench.hsph.phase_work import check_data
from vas_bench.hsph.record import WORKLOAD, hsph_identity, results_of
from vas_bench.hsph.session import (
    RUNS,
    HsphSession,
    expected_seconds,
    is_done,
    play_once,
    step_name,
)
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore, parse
from vas_bench.run.experiments import experiments
from vas_bench.run.plan import made_plan
from vas_core.cli import run_command
from vas_core.errors import VasError
from vas_core.root import Root

PLAN = made_plan(name="hsph", workloads="terasort", systems="vas", drop_caches=False)
(EXPERIMENT,) = experiments(PLAN)
IDENTITY = hsph_identity(RunIdentity(EXPERIMENT, {"properties": {}}, {"vas": "1"}), 0.001)
HERE: dict[str, Any] = {"kernel": "6.1", "processors": 2}
GAP_SECONDS = 0.5


@dataclass
class MadeUp:
    """Work whose phases take 1 to 5 s, a second longer in each further run."""

    fails_in: str = ""
    checksum: str = "abc"
    cpu_seconds: float = 3.0
    now: float = 100.0
    runs: int = 0
    calls: list[str] = field(default_factory=list)

    def clean(self) -> None:
        self.calls.append("clean")
        self.runs += 1
        self.now += 60.0

    def play(self, phase: str) -> None:
        self.calls.append(phase)
        if phase == self.fails_in:
            raise VasError("no room")
        self.now += PHASES.index(phase) + self.runs

    @contextmanager
    def around(self, _: str) -> Iterator[None]:
        self.now += GAP_SECONDS
        yield


def session(**changed: Any) -> HsphSession:
    usual: dict[str, Any] = {
        "identity": IDENTITY,
        "command": "vas bench hsph",
        "environment": lambda: HERE,
        "now": lambda: datetime(2026, 1, 1, tzinfo=UTC),
    }
    return HsphSession(**(usual | changed))


def play(
    work: MadeUp, keep: Callable[[BenchRun], None] = lambda _: None, **changed: Any
) -> tuple[BenchRun, ...]:
    return session(clock=lambda: work.now, **changed).play(work, work.around, keep).made


def test_phases_come_in_order_and_t_has_the_gaps_but_not_the_cleaning() -> None:
    work = MadeUp()
    timed = play_once(work, work.around, scale_factor=0.001, clock=lambda: work.now)
    assert work.calls == ["clean", *PHASES]
    assert list(timed.phase_seconds.items()) == list(zip(PHASES, (1, 2, 3, 4, 5), strict=True))
    assert timed.total_seconds == 15 + 5 * GAP_SECONDS
    assert timed.joules is None


def test_both_runs_are_lines_and_the_slower_is_the_result(tmp_path: Path) -> None:
    work = MadeUp()
    made = play(work)
    assert work.calls == ["clean", *PHASES] * 2
    file = tmp_path / "hsph.jsonl"
    with RunStore.open(file) as writer:
        for run in made:
            writer.append(run)
    runs = parse(file.read_bytes()).runs
    assert runs == made
    (result,), rest = results_of(runs)
    assert rest == []
    assert result.reported.total_seconds == 20 + 5 * GAP_SECONDS
    assert result.reported.hsph == pytest.approx(0.001 / (22.5 / 3600))
    assert result.reported.unaccounted_seconds == pytest.approx(5 * GAP_SECONDS)
    for run in runs:
        assert run.workload == WORKLOAD and "not a TPC result" in run.workload
        assert run.configuration["metric"] == NOT_TPC
        assert run.measures["hsph"] == pytest.approx(3.6 / run.measures["job_seconds"])
        assert list(run.phases) == [*PHASES, "unaccounted"]


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_that_fails_ends_all_of_it(phase: str) -> None:
    work = MadeUp(fails_in=phase)
    with pytest.raises(VasError, match="run 1 failed, and a result takes both: it failed: no room"):
        play(work)
    assert work.calls == ["clean", *PHASES[: PHASES.index(phase) + 1]]


def test_another_environment_is_no_result() -> None:
    seen = iter([HERE, HERE, HERE | {"kernel": "6.2"}])
    with pytest.raises(VasError, match=r"and a result takes both: .*kernel was 6.1 and is 6.2"):
        play(MadeUp(), environment=lambda: next(seen))


def test_other_rows_in_the_second_run_are_no_result() -> None:
    class Changing(MadeUp):
        def clean(self) -> None:
            super().clean()
            self.checksum = f"of run {self.runs}"

    with pytest.raises(VasError, match="sorted different rows"):
        play(Changing())


def test_one_run_of_two_is_no_result() -> None:
    first, _ = play(MadeUp())
    assert results_of([first]) == ([], [first])


def test_a_run_that_failed_is_kept_as_invalid_and_is_part_of_no_result() -> None:
    kept: list[BenchRun] = []
    with pytest.raises(VasError):
        play(MadeUp(fails_in="sort"), kept.append)
    (run,) = kept
    assert run.invalid == "it failed: no room"
    assert results_of(kept) == ([], kept)


def test_a_budget_begins_no_run_that_it_would_cut_off() -> None:
    work, kept = MadeUp(), list[BenchRun]()
    seconds = sum(expected_seconds(phase, EXPERIMENT.size_bytes) for phase in PHASES)
    budget = Budget(1.5 * seconds, lambda: work.now)
    its = session(clock=lambda: work.now)
    ended = its.play(work, work.around, kept.append, budget)
    assert (len(ended.made), [each.number for each in ended.left]) == (1, [2])
    assert results_of(kept) == ([], kept)


def test_only_a_session_of_both_runs_is_gone_on_from() -> None:
    first, second = play(MadeUp())
    assert is_done(IDENTITY, [first, second], HERE)
    assert not is_done(IDENTITY, [first], HERE)
    assert not is_done(IDENTITY, [], HERE)
    other = hsph_identity(RunIdentity(EXPERIMENT, {}, {}), 0.003)
    assert not is_done(other, [first, second], HERE)
    assert not is_done(IDENTITY, [first, second], {})


def test_a_file_of_runs_becomes_a_report(tmp_path: Path) -> None:
    file, page = tmp_path / "hsph.jsonl", tmp_path / "hsph.html"
    with RunStore.open(file) as store:
        play(MadeUp(), store.append)
    assert run_command(["bench", "report", str(file), "--out", str(page)]) == 0
    assert WORKLOAD in page.read_text()


def test_runs_of_other_workloads_are_not_looked_at() -> None:
    other = RunIdentity(EXPERIMENT, {}, {}).run(
        id="r", time=datetime(2026, 1, 1, tzinfo=UTC), measures={"job_seconds": 1.0}
    )
    results, rest = results_of([other, *play(MadeUp())])
    assert (len(results), rest) == (1, [])


def test_what_is_kept_is_shown_and_says_that_it_is_no_tpc_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, prices = tmp_path / "hsph.jsonl", tmp_path / "prices.csv"
    prices.write_text("item,count,price,currency\nnode,4,1000,USD\n")
    with RunStore.open(file) as writer:
        for hour in (9, 10):
            for run in play(MadeUp(), now=partial(datetime, 2026, 1, 1, hour, tzinfo=UTC)):
                writer.append(run)
    shown = ["bench", "hsph", "--show", str(file), "--prices", str(prices)]
    assert run_command(shown) == 0
    out = capsys.readouterr().out
    assert out.count(NOT_TPC) == 3 and "0.160 HSph@0.001TB, the lower of two runs" in out
    assert "25,000.00 USD/HSph" in out
    assert run_command([*shown, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["disclaimer"] == NOT_TPC and len(found["results"]) == 2
    assert "one run of each, no interval" in found["comparisons"][0]


def test_dry_run_says_all_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "hsph", "--dry-run"]) == 0
    out, err = capsys.readouterr()
    names = [step_name(number, phase) for number in RUNS for phase in PHASES]
    lines = out.splitlines()[-len(names) :]
    assert [line[: len(name)] for line, name in zip(lines, names, strict=True)] == names
    assert NOT_TPC in err


def test_what_cannot_be_cut_is_refused_by_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "hsph", "--split", "1M", "--dry-run"]) == 2
    assert "--split: give 16 MiB or more" in capsys.readouterr().err


def test_data_that_is_all_there_is_found_right() -> None:
    check_data([500, 300, 200], rows=10, files=3, where="/in")


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([500, 500], "2 files, 3 were to be written"),
        ([500, 300, 100], "9 rows, 10 were to be written"),
        ([500, 350, 150], "2 files end within a row"),
    ],
)
def test_data_that_is_not_is_refused(sizes: list[int], said: str) -> None:
    with pytest.raises(VasError, match=said):
        check_data(sizes, rows=10, files=3, where="/in")


def zone(root: Path, name: str, called: str, microjoules: int) -> None:
    directory = root / "sys/class/powercap" / name
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "name").write_text(f"{called}\n")
    (directory / "energy_uj").write_text(f"{microjoules}\n")
    (directory / "max_energy_range_uj").write_text("1000000\n")


def test_packages_and_memory_are_metered_once(tmp_path: Path) -> None:
    for name, called in [
        ("intel-rapl:0", "package-0"),
        ("intel-rapl:0:0", "core"),
        ("intel-rapl:0:1", "dram"),
        ("intel-rapl:1", "psys"),
        ("intel-rapl-mmio:0", "package-0"),
    ]:
        zone(tmp_path, name, called, 7)
    assert set(read_zones(Root(tmp_path))) == {"intel-rapl:0", "intel-rapl:0:1"}


def test_a_counter_that_wrapped_goes_on() -> None:
    before, after = {"a": RaplZone(900_000, 1_000_000)}, {"a": RaplZone(200_000, 1_000_000)}
    assert joules_between(before, after) == pytest.approx(0.3)


def test_the_meter_adds_up_and_says_where_there_is_none(tmp_path: Path) -> None:
    assert EnergyMeter(Root(tmp_path)).joules() is None
    zone(tmp_path, "intel-rapl:0", "package-0", 900_000)
    meter = EnergyMeter(Root(tmp_path))
    zone(tmp_path, "intel-rapl:0", "package-0", 100_000)
    assert meter.joules() == pytest.approx(0.2)
    zone(tmp_path, "intel-rapl:0", "package-0", 400_000)
    assert meter.joules() == pytest.approx(0.5)
    zone(tmp_path, "intel-rapl:1", "package-1", 0)
    assert meter.joules() is None


def test_energy_is_that_of_the_run_alone() -> None:
    work = MadeUp()
    timed = play_once(
        work, work.around, scale_factor=0.001, clock=lambda: work.now, joules=lambda: work.now * 2
    )
    assert timed.joules == 2 * timed.total_seconds


def test_a_file_without_such_runs_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(made_up_run().model_dump_json() + "\n")
    assert run_command(["bench", "hsph", "--show", str(file)]) == 2
    assert "holds no HSph-like runs" in capsys.readouterr().err
