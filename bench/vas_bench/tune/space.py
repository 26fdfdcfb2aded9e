"""The configurations that a plan may try. Pure."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vas_bench.run.experiments import Experiment
from vas_bench.run.plan import JvmProfile
from vas_bench.run.systems import PROFILES, configuration
from vas_bench.tune.plan import REDUCERS, SORT_BUFFER, SPLIT, TunePlan
from vas_core.sizes import format_size
from vas_yarn.lint.contradiction import Contradiction
from vas_yarn.lint.rules import contradictions
from vas_yarn.site_files import as_mapping
from vas_yarn.small_cluster import TASK_HEAP, TASK_MIB

_MIB = 1 << 20
# The rules look at the scheme alone, and a search knows no NameNode yet.
_HDFS = "hdfs://namenode"
# What a task has in a lab where its job says nothing.
LAB_TASKS = {
    f"mapreduce.{kind}.{key}": value
    for kind in ("map", "reduce")
    for key, value in (("java.opts", TASK_HEAP), ("memory.mb", str(TASK_MIB)))
}


@dataclass(frozen=True, kw_only=True)
class TunePoint:
    """One configuration of the space. Sizes in bytes; None is Hadoop's own."""

    split: int
    reducers: int
    sort_buffer: int | None
    jvm: JvmProfile
    properties: tuple[tuple[str, str], ...]

    @property
    def job(self) -> dict[str, str]:
        """The properties of the point's job, besides those that cut the data."""
        buffer = {} if self.sort_buffer is None else {SORT_BUFFER: str(self.sort_buffer // _MIB)}
        return {**PROFILES[self.jvm].job, **buffer, **dict(self.properties)}

    @property
    def all(self) -> dict[str, str]:
        """The properties of the point's job, with those that cut the data."""
        return {SPLIT: str(self.split), REDUCERS: str(self.reducers), **self.job}

    @property
    def choices(self) -> dict[str, str]:
        """The choices as words for people."""
        buffer = "Hadoop's" if self.sort_buffer is None else format_size(self.sort_buffer)
        own = {"split": format_size(self.split), "reducers": str(self.reducers)}
        return {**own, "sort buffer": buffer, "jvm": self.jvm, **dict(self.properties)}

    def named(self, baseline: TunePoint) -> str:
        """Returns the choices that differ from the baseline's, or the baseline's name."""
        theirs = baseline.choices
        found = (f"{k} {v}" for k, v in self.choices.items() if theirs.get(k) != v)
        return ", ".join(found) or BASELINE


BASELINE = "baseline"


@dataclass(frozen=True)
class Space:
    """The baseline, the candidates, and the combinations left out, with the reason."""

    baseline: TunePoint
    candidates: tuple[TunePoint, ...]
    impossible: tuple[tuple[TunePoint, Contradiction], ...]
    undrawn: int

    def name(self, point: TunePoint) -> str:
        """Returns a point in words."""
        return point.named(self.baseline)


def experiment(plan: TunePlan, point: TunePoint) -> Experiment:
    """Returns the experiment that measures a point."""
    return Experiment(
        workload=plan.workload,
        system=plan.system,
        size_bytes=plan.size,
        split_bytes=point.split,
        reducers=point.reducers,
        hosts=plan.hosts,
        properties=tuple(sorted(point.job.items())),
    )


def space(plan: TunePlan, told: Mapping[str, str] = LAB_TASKS) -> Space:
    """Returns all combinations except the baseline's and those that `vas lint` refuses.

    `told` has the properties that a lab or site gives to every job. Where more combinations are
    left than the plan wants, as many are drawn by lot, by the plan's seed.
    """
    base = _baseline(plan)
    usual = set(_contradictions(plan, base, told))
    possible, impossible = [], []
    for point in _combined(plan, base):
        why = next((c for c in _contradictions(plan, point, told) if c not in usual), None)
        if why:
            impossible.append((point, why))
        else:
            possible.append(point)
    drawn = _drawn(possible, plan.search.candidates, plan.seed)
    return Space(base, tuple(drawn), tuple(impossible), len(possible) - len(drawn))


def _baseline(plan: TunePlan) -> TunePoint:
    it = plan.baseline
    return TunePoint(
        split=it.split,
        reducers=it.reducers,
        sort_buffer=it.sort_buffer,
        jvm=it.jvm,
        properties=_sorted(it.properties),
    )


def _combined(plan: TunePlan, base: TunePoint) -> list[TunePoint]:
    it = plan.sweep
    swept = [[(key, value) for value in values] for key, values in it.properties.items()]
    combined = itertools.product(
        it.split or (base.split,),
        it.reducers or (base.reducers,),
        it.sort_buffer or (base.sort_buffer,),
        it.jvm or (base.jvm,),
        itertools.product(*swept),
    )
    found = [
        TunePoint(
            split=split,
            reducers=reducers,
            sort_buffer=buffer,
            jvm=jvm,
            properties=_sorted({**dict(base.properties), **dict(chosen)}),
        )
        for split, reducers, buffer, jvm, chosen in combined
    ]
    # Two ways to choose the same are one.
    distinct = {frozenset(point.all.items()): point for point in reversed(found)}
    distinct.pop(frozenset(base.all.items()), None)
    return list(reversed(distinct.values()))


def _contradictions(
    plan: TunePlan, point: TunePoint, told: Mapping[str, str]
) -> list[Contradiction]:
    chosen = configuration(experiment(plan, point), plan.properties, "", hdfs=_HDFS)["properties"]
    return contradictions(as_mapping({**told, **chosen}), None)


def _drawn(points: Sequence[TunePoint], most: int, seed: int) -> list[TunePoint]:
    if len(points) <= most:
        return list(points)
    lots = random.Random(seed)  # noqa: S311 (a choice, not a secret)
    chosen = sorted(lots.sample(range(len(points)), most))
    return [points[number] for number in chosen]


def _sorted(properties: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(properties.items()))
