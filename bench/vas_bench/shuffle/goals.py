"""What the shuffle has to reach: each row's measure and its limit. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vas_bench.arms.rounds import Comparison
from vas_bench.statistics.ratio import ratio
from vas_bench.statistics.summary import summary

STOCK, VAS, TEZ = "stock", "VAS", "Tez"


@dataclass(frozen=True)
class Estimate:
    """A value, its interval, how many runs of an arm it is from; p where two arms are compared."""

    value: float
    low: float
    high: float
    n: int
    p: float | None = None


class Quantity(Protocol):
    """What a row says of the runs of one job."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms whose runs it needs."""

    def of(self, found: Comparison) -> Estimate:
        """The value, from at least one run of each of these arms."""


@dataclass(frozen=True)
class Against:
    """VAS's median of a measure over another arm's."""

    measure: str
    other: str = STOCK

    @property
    def arms(self) -> tuple[str, ...]:
        """VAS and the other."""
        return (VAS, self.other)

    def of(self, found: Comparison) -> Estimate:
        """The ratio, with p of the Mann-Whitney U test."""
        it = ratio(found.of(VAS, self.measure), found.of(self.other, self.measure))
        return Estimate(it.value, it.low, it.high, it.n, it.p)


@dataclass(frozen=True)
class Share:
    """A measure of VAS's runs over another measure of the same run."""

    measure: str
    whole: str
    arms: tuple[str, ...] = (VAS,)

    def of(self, found: Comparison) -> Estimate:
        """The median over the runs."""
        both = zip(found.of(VAS, self.measure), found.of(VAS, self.whole), strict=True)
        it = summary([part / whole for part, whole in both])
        low, high = it.median_interval or (it.median, it.median)
        return Estimate(it.median, low, high, it.n)


@dataclass(frozen=True)
class Most:
    """The largest that any run of VAS had: for what must never be."""

    measure: str
    arms: tuple[str, ...] = (VAS,)

    def of(self, found: Comparison) -> Estimate:
        """The largest value; the interval is from the smallest to it."""
        values = found.of(VAS, self.measure)
        return Estimate(max(values), min(values), max(values), len(values))


@dataclass(frozen=True)
class Goal:
    """A row: which job's runs, what of them, and the largest value that is good enough, if any."""

    name: str
    job: str
    quantity: Quantity
    limit: float | None


def _goals(
    job: str, title: str, rows: Sequence[tuple[str, Quantity, float | None]]
) -> tuple[Goal, ...]:
    return tuple(Goal(f"{title}: {what}", job, quantity, limit) for what, quantity, limit in rows)


_TIME = "client_seconds"
GOALS = (
    *_goals(
        "terasort",
        "TeraSort",
        (
            ("job time / stock's", Against(_TIME), 0.50),
            ("job time / Tez's", Against(_TIME, TEZ), 0.65),
            ("all CPU / Tez's", Against("cpu_seconds", TEZ), 0.65),
            ("all CPU / stock's", Against("cpu_seconds"), 0.45),
            ("task CPU without start-up / stock's", Against("task_cpu_seconds"), 0.30),
            (
                "intermediate bytes written / map output bytes",
                Share("written_bytes", "map_output_bytes"),
                1.06,
            ),
            ("intermediate bytes read and written / stock's", Against("moved_bytes"), 0.40),
            ("the same without HTTP / stock's", Against("stored_bytes"), None),
            ("records spilled on the reduce side", Most("reduce_spilled_records"), 0),
        ),
    ),
    *_goals("secondarysort", "SecondarySort", (("job time / stock's", Against(_TIME), 0.70),)),
    *_goals("sort", "Sort", (("job time / stock's", Against(_TIME), 0.70),)),
    *_goals(
        "wordcount", "WordCount with combiner", (("job time / stock's", Against(_TIME), 0.95),)
    ),
    *_goals("one-map", "1 map, 10 MB", (("job time / stock's", Against(_TIME), 1.05),)),
)
