"""Measures two or more ways to do one thing, in alternating rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vas_bench.statistics.summary import Summary, summary


@dataclass(frozen=True)
class Rate:
    """The rate of one way: repetitions per second, over `n` rounds."""

    name: str
    n: int
    median: float
    lowest: float
    highest: float

    @property
    def spread(self) -> float:
        """The spread, (highest - lowest) / median: 0 is perfectly steady."""
        return (self.highest - self.lowest) / self.median


def alternate(
    ways: Mapping[str, Callable[[], int]],
    *,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Rate]:
    """Runs every way once per round, in alternating order, after one round unmeasured.

    A way returns how many things it did. Alternating spreads a disturbance over all.
    """
    for way in ways.values():
        way()
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        names = list(ways)[:: 1 if number % 2 == 0 else -1]
        for name in names:
            started = clock()
            count = ways[name]()
            rates[name].append(count / (clock() - started))
    return [_rate(name, summary(found)) for name, found in rates.items()]


def _rate(name: str, of: Summary) -> Rate:
    return Rate(name, of.n, of.median, of.lowest, of.highest)
