"""The percentile bootstrap, the same for the same samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
ALPHA = 0.05
_RESAMPLES = 2000
_SEED = 1

Interval = tuple[float, float]


def interval(samples: Sequence[Sequence[float]], statistic: Callable[..., Any]) -> Interval:
    """Returns the 95 % interval of a statistic of samples, each of two values or more.

    `statistic` takes them as arrays and an `axis`. Percentile, so that it never leaves what was
    seen; how often it holds the truth is in docs/bench-stats.md.
    """
    found = stats.bootstrap(
        samples,
        statistic,
        vectorized=True,
        confidence_level=CONFIDENCE,
        n_resamples=_RESAMPLES,
        method="percentile",
        rng=_SEED,
    ).confidence_interval
    return float(np.asarray(found.low)), float(np.asarray(found.high))
