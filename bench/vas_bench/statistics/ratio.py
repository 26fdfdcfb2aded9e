"""Computes the ratio of two arms' medians, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vas_bench.statistics.bootstrap import ALPHA, Interval, interval
from vas_bench.statistics.chance import rank_test
from vas_core.errors import BadInput


@dataclass(frozen=True)
class MedianRatio:
    """The ratio of two arms' medians: value, 95 % interval, and p.

    Where paired, the median of the rounds' ratios. The interval is a percentile bootstrap's; `p`
    is the rank test's (`chance.rank_test`); `n` the runs of the arm that has fewer.
    """

    value: float
    low: float
    high: float
    n: int
    p: float

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval; None for one run, which has none."""
        return (self.low, self.high) if self.n > 1 else None

    @property
    def ends(self) -> str:
        """The interval in words, like `0.580 to 0.660`; `-` for one run, which has none."""
        return f"{self.low:.3f} to {self.high:.3f}" if self.interval else "-"

    @property
    def in_words(self) -> str:
        """The ratio in words, like `0.62 (0.58 to 0.66, n=5, p=0.008)`, or `not significant`."""
        text = f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f}, n={self.n}, p={self.p:.3f})"
        return text if self.p < ALPHA else f"{text}: not significant"


def ratio(samples: Sequence[float], base: Sequence[float], *, paired: bool = False) -> MedianRatio:
    """Compares the medians of two arms; each needs a sample, the base a median above zero.

    `paired` takes the n-th of each as one round. Raises BadInput for what has no ratio.
    """
    _check(samples, base, paired)
    values = [list(samples), list(base)]
    if paired:
        values = [[a / b for a, b in zip(samples, base, strict=True)]]
    value = float(_of_medians(*values))
    n = min(len(samples), len(base))
    low, high = interval(values, _of_medians) if n > 1 else (value, value)
    return MedianRatio(value, low, high, n, rank_test(samples, base, paired=paired))


def _of_medians(*values: ArrayLike, axis: int = -1) -> Any:
    medians = [np.asarray(np.median(np.asarray(v, dtype=float), axis=axis)) for v in values]
    return medians[0] if len(medians) == 1 else medians[0] / medians[1]


def _check(samples: Sequence[float], base: Sequence[float], paired: bool) -> None:
    if paired and len(samples) != len(base):
        text = f"{len(samples)} runs cannot be paired with {len(base)}"
        raise BadInput(text, hint="give both arms the same rounds")
    if not samples or not base:
        raise BadInput("an arm has no runs", hint="a ratio needs one of each")
    if np.median(base) <= 0 or (paired and min(base) <= 0):
        raise BadInput("the base is zero or less", hint="compare differences, it has no ratio")
