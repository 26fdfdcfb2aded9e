"""Tests of a 2x2 experiment: means without equal variances, and the variances themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from vas_bench.statistics.chance import holm

Arms = Mapping[str, Sequence[float]]
_ROUNDING = 1e-12
"""Largest rounding error, as a share of the values' mean."""


@dataclass(frozen=True)
class PinningAnswer:
    """A question and its answer. `effect` and its interval are in `unit`.

    `p_holm` is the p-value after Holm's correction for all questions asked together; the interval
    is the uncorrected 95 % one, None for a test that has none.
    """

    question: str
    unit: str
    effect: float
    low: float | None
    high: float | None
    p: float
    p_holm: float = math.nan

    def significant(self, alpha: float) -> bool:
        """Returns whether the answer is significant at this level."""
        return self.p_holm < alpha


def contrast(question: str, arms: Arms, weights: Mapping[str, float], base: float) -> PinningAnswer:
    """Tests a weighted sum of means against 0; the variances may differ (Welch).

    Welch's test where the weights are 1 and -1: its degrees of freedom are Satterthwaite's. The
    effect is in per cent of `base`.
    """
    parts = [(w, np.asarray(arms[name], dtype=float)) for name, w in weights.items()]
    effect = sum(w * float(values.mean()) for w, values in parts)
    shares = [w * w * float(values.var(ddof=1)) / len(values) for w, values in parts]
    variance = sum(shares)
    if variance == 0:
        p = 0.0 if effect else 1.0
        return PinningAnswer(question, "%", 100 * effect / base, None, None, p)
    pairs = zip(shares, parts, strict=True)
    freedom = variance**2 / sum(share**2 / (len(v) - 1) for share, (_, v) in pairs)
    error = math.sqrt(variance)
    p = float(2 * stats.t.sf(abs(effect) / error, freedom))
    half = float(stats.t.ppf(0.975, freedom)) * error
    low, high = 100 * (effect - half) / base, 100 * (effect + half) / base
    return PinningAnswer(question, "%", 100 * effect / base, low, high, p)


def spread(question: str, before: Sequence[float], after: Sequence[float]) -> PinningAnswer:
    """Tests by Brown and Forsythe whether runs of one arm differ more among themselves.

    Of values by their arm's mean, as a faster arm differs more in absolute numbers. The effect is
    the ratio of the relative standard deviations, after by before. Where the deviations from each
    arm's median are all equal, as those of two runs always are, nothing is known: p is 1.
    """
    one, other = (np.asarray(arm, dtype=float) / float(np.mean(arm)) for arm in (before, after))
    if not one.std() and not other.std():
        return PinningAnswer(question, "x", 1.0, None, None, 1.0)
    ratio = float(other.std(ddof=1) / one.std(ddof=1)) if one.std(ddof=1) else math.inf
    deviations = [np.abs(arm - np.median(arm)) for arm in (one, other)]
    if all(float(np.ptp(found)) <= _ROUNDING for found in deviations):
        return PinningAnswer(question, "x", ratio, None, None, 1.0)
    p = float(stats.levene(one, other, center="median").pvalue)
    return PinningAnswer(question, "x", ratio, None, None, p)


def corrected(tests: Sequence[PinningAnswer]) -> list[PinningAnswer]:
    """Corrects tests by Holm: the chance of one false finding among all stays below alpha."""
    fixed = holm([test.p for test in tests])
    return [replace(test, p_holm=p) for test, p in zip(tests, fixed, strict=True)]
