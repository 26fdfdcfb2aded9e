"""The goals of a shuffle, and the rows that runs make of them. Pure but for `read_goals`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, RootModel

from vas_bench.results.record import BenchRun
from vas_bench.results.systems import ComparedSystem
from vas_bench.statistics.ratio import ratio
from vas_bench.statistics.summary import summary
from vas_core.settings import read_yaml
from vas_yarn.jobs.systems import System

STOCK: System = "yarn-lustre-hosts"
VAS: System = "vas"


COLUMNS = ("NAME", "VALUE", "95 % INTERVAL", "N", "GOAL", "MET", "P")
_DIGITS = 4


@dataclass(frozen=True)
class GoalRow:
    """A line of the table; an invalid one has no value, and has not met its goal."""

    name: str
    value: float | None
    interval: tuple[float, float] | None
    n: int
    goal: float | None
    p: float | None = None
    invalid: str = ""

    @property
    def met(self) -> bool | None:
        """Tells whether the value is within the goal; None without a goal."""
        if self.goal is None:
            return None
        return self.value is not None and self.value <= self.goal

    def as_json(self) -> dict[str, Any]:
        """Returns the row as `--json` prints it; `invalid` is in it only if it is not empty."""
        row: dict[str, Any] = {
            "name": self.name,
            "value": _rounded(self.value),
            "interval": [_rounded(end) for end in self.interval] if self.interval else None,
            "n": self.n,
            "goal": self.goal,
            "met": self.met,
            "p": _rounded(self.p),
        }
        return row | ({"invalid": self.invalid} if self.invalid else {})

    def as_cells(self) -> tuple[object, ...]:
        """Returns the row for people, in the order of COLUMNS."""
        if self.invalid:
            return (self.name, "invalid", "", self.n, _limit(self.goal), "no", "")
        assert self.value is not None and self.interval is not None
        interval = " to ".join(_number(end) for end in self.interval)
        met = "" if self.met is None else "yes" if self.met else "no"
        p = "" if self.p is None else f"{self.p:.3f}"
        return (self.name, _number(self.value), interval, self.n, _limit(self.goal), met, p)


class Goal(BaseModel):
    """A row of the table: a measure of a system's runs, and the largest value allowed, if any.

    `over`: the ratio of medians, over another system's; if `paired`, the median of the ratios of
    rounds that both have. `of`: the share of another measure of the same run. With neither it is
    the largest value of any run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    row: str
    system: ComparedSystem = VAS
    measure: str
    over: ComparedSystem | None = None
    paired: bool = False
    of: str | None = None
    limit: float | None = None

    @property
    def systems(self) -> tuple[ComparedSystem, ...]:
        """The systems whose runs the goal needs."""
        return (self.system, self.over) if self.over else (self.system,)

    def estimate(self, name: str, runs: Sequence[BenchRun]) -> GoalRow:
        """Returns the goal's row, called `name`; `runs` has at least one of each of its systems."""
        values = values_of(runs, self.system, self.measure)
        if self.over:
            base = values_of(runs, self.over, self.measure)
            if self.paired:
                values, base = _pairs(runs, self.system, self.over, self.measure)
            it = ratio(values, base, paired=self.paired)
            return GoalRow(name, it.value, (it.low, it.high), it.n, self.limit, it.p)
        if self.of:
            both = zip(values, values_of(runs, self.system, self.of), strict=True)
            found = summary([part / whole for part, whole in both])
            interval = found.median_interval or (found.median, found.median)
            return GoalRow(name, found.median, interval, found.n, self.limit)
        return GoalRow(name, max(values), (min(values), max(values)), len(values), self.limit)


def values_of(runs: Sequence[BenchRun], system: ComparedSystem, measure: str) -> list[float]:
    """Returns a system's values of a measure, in the order of runs."""
    return [run.measures[measure] for run in runs if run.system == system]


def _pairs(
    runs: Sequence[BenchRun], system: ComparedSystem, over: ComparedSystem, measure: str
) -> tuple[list[float], list[float]]:
    """The values of both systems in the rounds that both have."""
    by_round = [
        {run.round: run.measures[measure] for run in runs if run.system == it}
        for it in (system, over)
    ]
    both = sorted(by_round[0].keys() & by_round[1].keys(), key=lambda number: number or 0)
    ours, theirs = ([found[number] for number in both] for found in by_round)
    return ours, theirs


class _Goals(RootModel[dict[str, tuple[Goal, ...]]]):
    pass


def read_goals(file: Path) -> Mapping[str, tuple[Goal, ...]]:
    """Reads the goals of a file: key of a job -> its goals. Raises BadInput for an invalid file."""
    return read_yaml(file, _Goals).root


def rows(
    title: str, goals: Iterable[Goal], runs: Sequence[BenchRun], stock: ComparedSystem = STOCK
) -> list[GoalRow]:
    """Returns a row for each goal of a job whose systems have run; `stock` has the right output."""
    ran = {run.system for run in runs}
    checked = judged(runs, stock)
    return [row(title, goal, checked, stock) for goal in goals if ran.issuperset(goal.systems)]


def row(
    title: str, goal: Goal, checked: Sequence[BenchRun], stock: ComparedSystem = STOCK
) -> GoalRow:
    """Returns a goal's row, from the runs of its job on its systems and on stock."""
    runs = [run for run in checked if run.system in {*goal.systems, stock}]
    name = f"{title}: {goal.row}"
    wrong = next(filter(None, (_wrong(run, goal) for run in runs)), "")
    if wrong:
        n = min(sum(r.system == it and not r.invalid for r in runs) for it in goal.systems)
        return GoalRow(name, None, None, n, goal.limit, invalid=wrong)
    return goal.estimate(name, runs)


def _wrong(run: BenchRun, goal: Goal) -> str:
    """Returns why a run cannot be a sample of a goal; the empty text for one that can."""
    named = f"{run.system}, round {run.round}"
    if run.invalid:
        return f"{named}: {run.invalid}"
    of = goal.of if run.system == goal.system else None
    needed = (goal.measure, of) if run.system in goal.systems else ()
    missing = next((it for it in needed if it and it not in run.measures), None)
    return f"{named}: it has no {missing}" if missing else ""


def judged(runs: Sequence[BenchRun], stock: ComparedSystem = STOCK) -> list[BenchRun]:
    """Returns the runs; those whose output differs from stock's of the same round are INVALID."""
    right = {run.round: _checksum(run) for run in runs if run.system == stock and not run.invalid}

    def judge(run: BenchRun) -> BenchRun:
        if run.invalid:
            return run
        expected = right.get(run.round)
        if expected is None:
            return _invalid(run, "stock's output, to compare with, is missing")
        if _checksum(run) != expected:
            return _invalid(run, f"its output is {_checksum(run)}, stock's {expected}")
        return run

    return [judge(run) for run in runs]


def _checksum(run: BenchRun) -> str:
    return run.validation.checksum if run.validation else ""


def _invalid(run: BenchRun, why: str) -> BenchRun:
    return run.model_copy(update={"invalid": why})


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def _limit(goal: float | None) -> str:
    return "" if goal is None else f"<= {goal:g}"
