"""Experiments that differ in the number of hosts alone, and the law through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from vas_bench.results.groups import BenchCase, RunGroup
from vas_bench.results.measures import JOB_SECONDS
from vas_bench.results.record import BenchRun, canonical_hash
from vas_bench.results.systems import ComparedSystem
from vas_bench.usl.diagnosis import UslDiagnosis, diagnose
from vas_bench.usl.fit import Fit, LeftOut, fit_all
from vas_bench.usl.points import ScalingPoint

HOSTS = "hosts"
_THROUGHPUT = "throughput_bytes_per_second"
_FAILURES = "failed_reduces"
_LEAST_COUNTS = 3
_HOUR_SECONDS = 3600


@dataclass(frozen=True)
class Scaling:
    """An experiment on different numbers of hosts; `case` leaves the number out."""

    case: BenchCase
    system: ComparedSystem
    runs: tuple[BenchRun, ...]

    @property
    def unit(self) -> str:
        """The unit of the throughput: bytes per second where every run has it, otherwise jobs."""
        has_bytes = all(_THROUGHPUT in run.measures for run in self.runs)
        return "bytes per second" if has_bytes else "jobs per hour"

    @cached_property
    def points(self) -> list[ScalingPoint]:
        """The runs' hosts, throughput and, where all runs count them, failed reduces."""
        counted = all(_FAILURES in run.measures for run in self.runs)
        return [self._point(run, counted) for run in self.runs]

    @cached_property
    def fits(self) -> list[Fit | LeftOut]:
        """The law's three fits, or the reason why a fit is left out."""
        return fit_all(self.points)

    @cached_property
    def diagnosis(self) -> UslDiagnosis:
        """The conclusion from all fits."""
        return diagnose(self.points, self.fits)

    def _point(self, run: BenchRun, counted: bool) -> ScalingPoint:
        rate = run.measures.get(_THROUGHPUT) if self.unit == "bytes per second" else None
        failures = ((_FAILURES, run.measures[_FAILURES]),) if counted else ()
        hosts = float(run.parameters[HOSTS])
        return ScalingPoint(hosts, rate or _HOUR_SECONDS / run.measures[JOB_SECONDS], failures)


def scalings(groups: Sequence[RunGroup]) -> list[Scaling]:
    """Returns the experiments that ran on three numbers of hosts or more."""
    found: dict[str, list[RunGroup]] = {}
    for group in groups:
        if _hosts(group) is not None:
            found.setdefault(_but_hosts(group), []).append(group)
    several = (each for each in found.values() if len(set(map(_hosts, each))) >= _LEAST_COUNTS)
    return [_scaling(each) for each in several]


def _scaling(groups: Sequence[RunGroup]) -> Scaling:
    case = groups[0].case
    others = tuple(item for item in case.parameters if item[0] != HOSTS)
    runs = tuple(run for group in sorted(groups, key=_hosts_or_0) for run in group.runs)
    return Scaling(BenchCase(case.workload, others), groups[0].system, runs)


def _hosts(group: RunGroup) -> int | None:
    found = group.runs[0].parameters.get(HOSTS)
    return found if isinstance(found, int) and found >= 1 else None


def _hosts_or_0(group: RunGroup) -> int:
    return _hosts(group) or 0


def _but_hosts(group: RunGroup) -> str:
    """All that experiments of one scaling have in common."""
    run = group.runs[0]
    others = {name: value for name, value in run.parameters.items() if name != HOSTS}
    same = [run.workload, run.system, others, run.configuration, run.versions, run.environment]
    return canonical_hash(same)
