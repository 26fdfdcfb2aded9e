"""The summary of one arm's samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from vas_bench.statistics.bootstrap import CONFIDENCE, Interval, interval

# Tukey's outer fences, "far out". The inner ones, at 1.5, flag a value in every third sample of
# five that is perfectly normal.
_FENCE_IQRS = 3.0


@dataclass(frozen=True)
class Summary:
    """The summary of an arm, in its samples' unit. An interval of one value is None.

    `median_interval` is a percentile bootstrap's, `mean_interval` Student's t; `outliers` are
    values more than 3 interquartile ranges outside the quartiles: flagged, never removed.
    """

    n: int
    median: float
    median_interval: Interval | None
    mean: float
    mean_interval: Interval | None
    sd: float
    iqr: float
    lowest: float
    highest: float
    outliers: tuple[float, ...]

    @property
    def cv(self) -> float:
        """The coefficient of variation: standard deviation over mean."""
        return self.sd / self.mean if self.mean else 0.0

    @property
    def spread(self) -> float:
        """The spread, (highest - lowest) / median: 0 is perfectly steady."""
        return (self.highest - self.lowest) / self.median


def summary(samples: Sequence[float]) -> Summary:
    """Returns the summary of one arm's samples, of which there is at least one."""
    values = np.asarray(samples, dtype=float)
    low, high = np.quantile(values, (0.25, 0.75))
    fence = _FENCE_IQRS * (high - low)
    several = len(values) > 1
    return Summary(
        n=len(values),
        median=float(np.median(values)),
        median_interval=interval((values.tolist(),), np.median) if several else None,
        mean=float(values.mean()),
        mean_interval=_mean_interval(values.tolist()) if several else None,
        sd=float(values.std(ddof=1)) if several else 0.0,
        iqr=float(high - low),
        lowest=float(values.min()),
        highest=float(values.max()),
        outliers=tuple(float(v) for v in values if v < low - fence or v > high + fence),
    )


def _mean_interval(values: Sequence[float]) -> Interval:
    error = float(stats.sem(values))
    half = error * float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1))
    mean = float(np.mean(values))
    return mean - half, mean + half
