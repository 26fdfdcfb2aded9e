"""Samples of a measure, and whether two arms differ. The statistics are scipy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from scipy import stats

_CONFIDENCE = 0.95
_ALPHA = 0.05
_RESAMPLES = 2000


@dataclass(frozen=True)
class Ratio:
    """The medians of one arm over another's: value, 95 % interval, and whether it is chance.

    The interval is a bootstrap's (percentile, so that it never leaves the samples); `p` is the
    two-sided Mann-Whitney U test's. With fewer than 4 samples in each arm that test cannot reach
    0.05, whatever they are.
    """

    value: float
    low: float
    high: float
    n: int
    p: float

    @property
    def in_words(self) -> str:
        """`0.62 (0.58 to 0.66, n=5, p=0.008)`, or the same and `not significant`."""
        text = f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f}, n={self.n}, p={self.p:.3f})"
        return text if self.p < _ALPHA else f"{text}: not significant"


@dataclass(frozen=True)
class Spread:
    """The median of samples, and its 95 % interval (a percentile bootstrap)."""

    value: float
    low: float
    high: float
    n: int


def spread(samples: Sequence[float]) -> Spread:
    """Of one arm's samples; there is at least one."""
    value = low = high = median(samples)
    if len(samples) > 1:
        low, high = _interval((samples,), median)
    return Spread(value, low, high, len(samples))


def ratio(samples: Sequence[float], base: Sequence[float]) -> Ratio:
    """How the medians of two arms compare; each needs a sample, the base a median above zero."""
    value = median(samples) / median(base)
    low = high = value
    if min(len(samples), len(base)) > 1:
        low, high = _interval((samples, base), lambda a, b: median(a) / median(b))
    p = float(stats.mannwhitneyu(samples, base, alternative="two-sided").pvalue)
    return Ratio(value, low, high, min(len(samples), len(base)), p)


def _interval(
    samples: tuple[Sequence[float], ...], statistic: Callable[..., float]
) -> tuple[float, float]:
    interval = stats.bootstrap(
        samples,
        statistic,
        vectorized=False,
        confidence_level=_CONFIDENCE,
        n_resamples=_RESAMPLES,
        method="percentile",
        rng=1,
    ).confidence_interval
    return float(interval.low), float(interval.high)
