"""Groups runs of one experiment: only their measures are ever put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vas_bench.results.record import BenchRun, Parameter
from vas_bench.results.systems import SYSTEMS, ComparedSystem
from vas_core.errors import VasError


@dataclass(frozen=True)
class BenchCase:
    """A workload and its parameters, without the system."""

    workload: str
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @classmethod
    def of(cls, run: BenchRun) -> BenchCase:
        """Returns the case of a run."""
        return cls(run.workload, tuple(sorted(run.parameters.items())))

    @property
    def order(self) -> tuple[Any, ...]:
        """The key that cases are sorted by: numbers by their value, before texts."""
        values = ((n, isinstance(v, str), v) for n, v in self.parameters)
        return self.workload, tuple(values)


@dataclass(frozen=True)
class RunGroup:
    """Runs of one case on one system, with one configuration in one environment.

    Raises VasError when they are not: different experiments are never averaged.
    """

    runs: tuple[BenchRun, ...]

    def __post_init__(self) -> None:
        hashes = {_key(run) for run in self.runs}
        if len(hashes) != 1:
            raise VasError(f"runs of {len(hashes)} configurations are not one experiment")

    @property
    def case(self) -> BenchCase:
        """The case of all its runs."""
        return BenchCase.of(self.runs[0])

    @property
    def system(self) -> ComparedSystem:
        """The system of all its runs."""
        return self.runs[0].system

    @property
    def configuration_hash(self) -> str:
        """The configuration's hash of all its runs."""
        return self.runs[0].configuration_hash

    @property
    def environment_fingerprint(self) -> str:
        """The environment's fingerprint of all its runs."""
        return self.runs[0].environment_fingerprint

    def values(self, measure: str) -> list[float]:
        """Returns the measure of each run that has it, in the order of runs."""
        return [run.measures[measure] for run in self.runs if measure in run.measures]


def grouped(runs: Iterable[BenchRun]) -> list[RunGroup]:
    """Returns the runs that count, by experiment, in order of cases and systems."""
    found: dict[tuple[str, str], list[BenchRun]] = {}
    for run in runs:
        if run.counts:
            found.setdefault(_key(run), []).append(run)
    order = list(SYSTEMS)
    groups = [RunGroup(tuple(runs)) for runs in found.values()]
    return sorted(groups, key=lambda g: (g.case.order, order.index(g.system), g.runs[0].time))


def _key(run: BenchRun) -> tuple[str, str]:
    return run.configuration_hash, run.environment_fingerprint
