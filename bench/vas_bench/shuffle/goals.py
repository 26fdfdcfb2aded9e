"""The goals of the shuffle, estimated from runs. Pure but for `read_goals`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, RootModel

from vas_bench.results.record import BenchRun
from vas_bench.results.systems import ComparedSystem
from vas_bench.statistics.ratio import ratio
from vas_bench.statistics.summary import summary
from vas_core.settings import read_yaml
from vas_yarn.jobs.systems import System

STOCK: System = "yarn-lustre-hosts"
VAS: System = "vas"


@dataclass(frozen=True)
class Estimate:
    """A value, its interval, and its number of runs; p where two systems are compared."""

    value: float
    low: float
    high: float
    n: int
    p: float | None = None


class Goal(BaseModel):
    """A row of the table: a measure of VAS's runs, and the largest value allowed, if any.

    `over`: the ratio of medians, over another system's. `of`: the share of another measure of the
    same run. With neither it is the largest value of any run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    row: str
    measure: str
    over: System | None = None
    of: str | None = None
    limit: float | None = None

    @property
    def systems(self) -> tuple[System, ...]:
        """The systems whose runs it needs."""
        return (VAS, self.over) if self.over else (VAS,)

    def estimate(self, runs: Sequence[BenchRun]) -> Estimate:
        """Returns the value, from at least one run of each of its systems."""
        values = values_of(runs, VAS, self.measure)
        if self.over:
            it = ratio(values, values_of(runs, self.over, self.measure))
            return Estimate(it.value, it.low, it.high, it.n, it.p)
        if self.of:
            both = zip(values, values_of(runs, VAS, self.of), strict=True)
            found = summary([part / whole for part, whole in both])
            low, high = found.median_interval or (found.median, found.median)
            return Estimate(found.median, low, high, found.n)
        return Estimate(max(values), min(values), max(values), len(values))


def values_of(runs: Sequence[BenchRun], system: ComparedSystem, measure: str) -> list[float]:
    """Returns a system's values of a measure, in the order of runs."""
    return [run.measures[measure] for run in runs if run.system == system]


class _Goals(RootModel[dict[str, tuple[Goal, ...]]]):
    pass


def read_goals() -> Mapping[str, tuple[Goal, ...]]:
    """Reads the goals that VAS brings, by the key of their job."""
    return read_yaml(Path(__file__).with_name("goals.yaml"), _Goals).root
