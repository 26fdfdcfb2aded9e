"""The law and its closed forms (Gunther, Puglia, Tomasette, ACM Queue 13(5), 2015, eq. 2 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# A number of nodes, or an array of them.
Nodes = TypeVar("Nodes", float, NDArray[np.float64])


@dataclass(frozen=True)
class Law:
    """X(p) = gamma p / (1 + sigma (p - 1) + kappa p (p - 1)), for p nodes.

    `sigma` is contention, below zero where speedups are superlinear; `kappa` is the cost of
    coherency, never below zero; `gamma` the throughput of one node, in the data's unit.
    """

    sigma: float
    kappa: float
    gamma: float = 1.0

    def speedup(self, p: Nodes) -> Nodes:
        """Returns the speedup S(p) = X(p) / gamma."""
        return p / (1 + self.sigma * (p - 1) + self.kappa * p * (p - 1))

    def throughput(self, p: Nodes) -> Nodes:
        """Returns the throughput X(p), in the unit of gamma."""
        return self.gamma * self.speedup(p)

    @property
    def pole(self) -> float | None:
        """The first p from 1 on at which the law has no value; None if it has one everywhere.

        The denominator's least root of 1 or more. For sigma < kappa there is none if and only if
        (kappa - sigma)^2 < 4 kappa (1 - sigma).
        """
        a, b, c = self.kappa, self.sigma - self.kappa, 1 - self.sigma
        if a == 0:
            roots = [-c / b] if b else []
        else:
            square = b * b - 4 * a * c
            roots = (
                [(-b + side * sqrt(square)) / (2 * a) for side in (-1, 1)] if square >= 0 else []
            )
        return min((root for root in roots if root >= 1), default=None)

    @property
    def peak(self) -> float | None:
        """The p of largest throughput, p* = sqrt((1 - sigma) / kappa); None if it only grows.

        Below 1 it falls from the first node on.
        """
        has_peak = self.kappa > 0 and self.sigma < 1 and self.pole is None
        return sqrt((1 - self.sigma) / self.kappa) if has_peak else None

    @property
    def max_speedup(self) -> float | None:
        """The largest speedup, S(p*); None without a peak."""
        return None if self.peak is None else self.speedup(self.peak)

    @property
    def crossover(self) -> float | None:
        """The p at which superlinear speedup ends, p_x = -sigma / kappa; None if not above 1."""
        superlinear = self.sigma < 0 < self.kappa and -self.sigma > self.kappa
        return -self.sigma / self.kappa if superlinear and self.pole is None else None

    @property
    def ceiling(self) -> float | None:
        """The limit of speedup if kappa is 0, 1 / sigma; None otherwise."""
        return 1 / self.sigma if self.kappa == 0 and self.sigma > 0 else None

    @property
    def most_efficient(self) -> float:
        """The p of largest S(p) / p: (1 + p_x) / 2 if superlinear, otherwise one node."""
        return 1.0 if self.crossover is None else (1 + self.crossover) / 2

    @property
    def best_efficiency(self) -> float:
        """The largest efficiency S(p) / p, at `most_efficient` nodes."""
        return self.speedup(self.most_efficient) / self.most_efficient


COEFFICIENTS = ("sigma", "kappa", "gamma")
DERIVED = ("peak", "max_speedup", "crossover", "ceiling")


def or_never(value: float | None) -> float:
    """Returns the value, or infinity for None: a place that is not there is further than any."""
    return inf if value is None else value
