"""The facts of a report, computed from runs: experiments side by side, and the runs left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from vas_bench.report.scaling import Scaling, scalings
from vas_bench.results.groups import BenchCase, RunGroup, grouped
from vas_bench.results.measures import MEASURES, measure_of, noun_of, primary_of
from vas_bench.results.record import BenchRun, HostLocality
from vas_bench.results.systems import NAME_OF, SYSTEMS, ComparedSystem
from vas_bench.statistics.compare import ArmDifference, compare
from vas_bench.statistics.gain import BetterDirection
from vas_bench.statistics.summary import Summary, summary

_HASH_CHARS = 8


@dataclass(frozen=True)
class ReportArm:
    """An experiment of a comparison; `difference` is its job time over the base's, None for it."""

    label: str
    group: RunGroup
    job: Summary
    difference: ArmDifference | None = None

    @property
    def system(self) -> ComparedSystem:
        """The system that it ran on."""
        return self.group.system

    @property
    def phases(self) -> dict[str, float]:
        """The mean seconds of each phase; the means add up to the mean job."""
        listed = [run.phases for run in self.group.runs if run.phases]
        names = list(dict.fromkeys(name for phases in listed for name in phases))
        order = sorted(names, key=lambda name: name == "unaccounted")
        return {name: fmean(phases.get(name, 0.0) for phases in listed) for name in order}

    @property
    def hosts(self) -> dict[str, HostLocality]:
        """The locality of each host, summed over the runs."""
        names = dict.fromkeys(host for run in self.group.runs for host in run.hosts)
        runs = self.group.runs
        return {name: _sum([r.hosts[name] for r in runs if name in r.hosts]) for name in names}

    def summary(self, measure: str) -> Summary | None:
        """Returns the summary of a measure over its runs; None where no run has it."""
        values = self.group.values(measure)
        return summary(values) if values else None


def _sum(localities: Sequence[HostLocality]) -> HostLocality:
    fields = HostLocality.model_fields
    return HostLocality(
        **{name: sum(getattr(each, name) for each in localities) for name in fields}
    )


@dataclass(frozen=True)
class Comparison:
    """The experiments of one case, in the order of the systems."""

    case: BenchCase
    arms: tuple[ReportArm, ...]

    @property
    def base(self) -> ReportArm:
        """The arm that ratios are over."""
        return next(arm for arm in self.arms if arm.difference is None)

    @property
    def measure(self) -> str:
        """The measure that the arms are compared by."""
        return primary_of(self.case.workload)

    @property
    def noun(self) -> str:
        """The measure in words."""
        return noun_of(self.measure)

    @property
    def ranked(self) -> list[ReportArm]:
        """The arms, the one with the best median first."""
        higher = better_of(self.measure) is BetterDirection.HIGHER
        return sorted(self.arms, key=lambda arm: arm.job.median, reverse=higher)

    @property
    def measures(self) -> list[str]:
        """The measures that any run has, in the order of their table."""
        found = {name for arm in self.arms for run in arm.group.runs for name in run.measures}
        order = list(MEASURES)
        return sorted(found, key=lambda name: (order.index(name.partition("/")[0]), name))


@dataclass(frozen=True)
class ReportFacts:
    """Everything that a report shows."""

    runs: tuple[BenchRun, ...]
    comparisons: tuple[Comparison, ...]

    @cached_property
    def scalings(self) -> list[Scaling]:
        """The experiments that ran on several numbers of hosts."""
        return scalings(self.groups)

    @property
    def compared(self) -> list[Comparison]:
        """The comparisons with a section of their own: a single arm in a scaling has none."""
        scaled = {run.id for scaling in self.scalings for run in scaling.runs}
        return [
            each
            for each in self.comparisons
            if len(each.arms) > 1 or each.arms[0].group.runs[0].id not in scaled
        ]

    @property
    def invalid(self) -> list[BenchRun]:
        """The INVALID runs, which count nowhere."""
        return [run for run in self.runs if run.invalid is not None]

    @property
    def warm_ups(self) -> int:
        """The number of warm-up runs, which count nowhere."""
        return sum(run.warm_up and run.invalid is None for run in self.runs)

    @property
    def groups(self) -> list[RunGroup]:
        """The groups of all experiments."""
        return [arm.group for comparison in self.comparisons for arm in comparison.arms]


def better_of(measure: str) -> BetterDirection:
    """Returns which way a compared measure is better."""
    found = measure_of(measure)
    return BetterDirection.HIGHER if found and found.better == "higher" else BetterDirection.LOWER


def facts_of(runs: Sequence[BenchRun], base: ComparedSystem | None = None) -> ReportFacts:
    """Computes a report's facts from runs. `base` is the system that others are compared with.

    Without it, or where it did not run, each case's first system is the base.
    """
    by_case: dict[BenchCase, list[RunGroup]] = {}
    for group in grouped(runs):
        by_case.setdefault(group.case, []).append(group)
    found = (compare_arms(case, groups, base) for case, groups in by_case.items())
    return ReportFacts(tuple(runs), tuple(found))


def compare_arms(
    case: BenchCase, groups: Sequence[RunGroup], base: ComparedSystem | None
) -> Comparison:
    """Compares the experiments of a case with the system `base`, or else with the first one."""
    labels = _labels(groups)
    measure = primary_of(case.workload)
    times = {name: g.values(measure) for name, g in zip(labels, groups, strict=True)}
    against = next((n for n, g in zip(labels, groups, strict=True) if g.system == base), labels[0])
    found = {each.pair.arm: each for each in compare(times, against, better_of(measure))}
    arms = (
        ReportArm(name, group, summary(times[name]), found.get(name))
        for name, group in zip(labels, groups, strict=True)
    )
    return Comparison(case, tuple(arms))


def _labels(groups: Sequence[RunGroup]) -> list[str]:
    """Each experiment's name: its arm's, as the demo prints it; where one system has several, with
    what sets it apart."""
    systems = Counter(group.system for group in groups)
    hashes = Counter((group.system, group.configuration_hash) for group in groups)
    labels = []
    for group in groups:
        label = NAME_OF.get(group.system, group.system)
        if systems[group.system] > 1:
            label += f" {group.configuration_hash[:_HASH_CHARS]}"
        if hashes[group.system, group.configuration_hash] > 1:
            label += f" on {group.environment_fingerprint[:_HASH_CHARS]}"
        labels.append(label)
    return labels


_COLOURS = (
    *(5, 3, 1, 6, 4, 2, 5, 0, 3, 2, 5, 0),  # of jobs
    *(3, 1, 2, 4, 3, 1, 2, 0),  # neighbours, pinnings
    *(0, 1, 2, 3, 4),  # pairs of places
    *(3, 1, 0, 2, 4, 0, 3, 1),  # fetches, Spark's shuffles
)
SERIES: dict[ComparedSystem, int] = dict(zip(SYSTEMS, _COLOURS, strict=True))
"""The colour of a system, the same in every figure: a number of chart.css."""
