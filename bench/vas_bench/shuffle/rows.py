"""From runs to rows: the arithmetic, the goals, and which rows cannot be trusted. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vas_bench.arms.rounds import Comparison, Sample
from vas_bench.shuffle.goals import STOCK, Goal

_DIGITS = 4


@dataclass(frozen=True)
class SampledRun:
    """One run of one job in one arm: its sample, or what was wrong with it."""

    job: str
    arm: str
    round: int
    sample: Sample | None
    wrong: str = ""


@dataclass(frozen=True)
class Row:
    """A line of the table. One that is invalid has no value and has not met its goal."""

    name: str
    value: float | None
    interval: tuple[float, float] | None
    n: int
    goal: float | None
    met: bool | None
    p: float | None = None
    invalid: str = ""

    def as_json(self) -> dict[str, Any]:
        """The row as `vas bench shuffle --json` prints it; `invalid` only where it is."""
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
        """The row for people, in the order of COLUMNS."""
        if self.invalid:
            return (self.name, "invalid", "", self.n, _limit(self.goal), "no", "")
        assert self.value is not None and self.interval is not None
        interval = " to ".join(_number(end) for end in self.interval)
        met = "" if self.met is None else "yes" if self.met else "no"
        p = "" if self.p is None else f"{self.p:.3f}"
        return (self.name, _number(self.value), interval, self.n, _limit(self.goal), met, p)


COLUMNS = ("NAME", "VALUE", "95 % INTERVAL", "N", "GOAL", "MET", "P")


def rows(goals: Iterable[Goal], runs: Sequence[SampledRun]) -> list[Row]:
    """A row for each goal whose job and arms have run."""
    return [row(goal, list(_of(goal, runs))) for goal in goals if _has_run(goal, runs)]


def row(goal: Goal, runs: Sequence[SampledRun]) -> Row:
    """A goal's row, from the runs of its job in its arms and in stock's."""
    wrong = next((f"{r.arm}, round {r.round + 1}: {r.wrong}" for r in runs if r.wrong), "")
    if wrong:
        n = min(sum(r.arm == arm and not r.wrong for r in runs) for arm in goal.quantity.arms)
        met = None if goal.limit is None else False
        return Row(goal.name, None, None, n, goal.limit, met, invalid=wrong)
    samples = tuple(r.sample for r in runs if r.sample)
    it = goal.quantity.of(Comparison(samples, STOCK))
    met = None if goal.limit is None else it.value <= goal.limit
    return Row(goal.name, it.value, (it.low, it.high), it.n, goal.limit, met, it.p)


def judged(runs: Sequence[SampledRun]) -> list[SampledRun]:
    """The runs; those whose output is not what stock's was in the same round are wrong."""
    stock = {(r.job, r.round): r.sample.checksum for r in runs if r.arm == STOCK and r.sample}

    def judge(run: SampledRun) -> SampledRun:
        if run.sample is None:
            return run
        expected = stock.get((run.job, run.round))
        if expected is None:
            return _wrong(run, "stock's output, to compare with, is missing")
        if run.sample.checksum != expected:
            return _wrong(run, f"its output is {run.sample.checksum}, stock's {expected}")
        return run

    return [judge(run) for run in runs]


def _wrong(run: SampledRun, what: str) -> SampledRun:
    return SampledRun(run.job, run.arm, run.round, None, what)


def _of(goal: Goal, runs: Sequence[SampledRun]) -> Iterator[SampledRun]:
    arms = {*goal.quantity.arms, STOCK}
    return (run for run in runs if run.job == goal.job and run.arm in arms)


def _has_run(goal: Goal, runs: Sequence[SampledRun]) -> bool:
    arms = {run.arm for run in runs if run.job == goal.job}
    return arms.issuperset(goal.quantity.arms)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def _limit(goal: float | None) -> str:
    return "" if goal is None else f"<= {goal:g}"
