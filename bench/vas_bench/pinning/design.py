"""A 2x2 experiment: its arms, and tests of means without equal variances and of variances."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from vas_bench.results.systems import Pinning
from vas_bench.statistics.chance import holm

Arms = Mapping[str, Sequence[float]]
# Largest rounding error, as a share of the values' mean.
_ROUNDING = 1e-12
FEWEST_RUNS = 3
"""Fewest runs of an arm: two are equally far from their median, which hides the spread."""


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
    """Tests by Brown and Forsythe whether the runs of one arm differ more among themselves.

    Values are divided by their arm's mean first, as a faster arm differs more in absolute numbers.
    The effect is the ratio of the relative standard deviations, after by before. Where the
    deviations from each arm's median are all equal, as those of two runs always are, nothing is
    known: p is 1.
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


@dataclass(frozen=True)
class PinningArm:
    """An arm of the experiment: whether idle CPUs poll (tuned), and whether threads are pinned."""

    tuned: bool
    pinned: bool

    @property
    def name(self) -> Pinning:
        """The arm as results name it, such as `untuned, pinned`."""
        if self.tuned:
            return "tuned, pinned" if self.pinned else "tuned, unpinned"
        return "untuned, pinned" if self.pinned else "untuned, unpinned"


BASE = PinningArm(tuned=False, pinned=False)


def arms(*, tuning: bool) -> list[PinningArm]:
    """Returns all four arms, or two where the machine lacks the tuning."""
    return [
        PinningArm(t, p) for t in ((False, True) if tuning else (False,)) for p in (False, True)
    ]


def questions(values: Arms) -> list[PinningAnswer]:
    """Returns the tests, corrected for their number; none with fewer than three runs of an arm."""
    if any(len(arm) < FEWEST_RUNS for arm in values.values()):
        return []
    base = sum(values[BASE.name]) / len(values[BASE.name])
    asked = _pinning(values, base, tuned=False)
    if PinningArm(True, False).name in values:
        asked += [*_pinning(values, base, tuned=True), *_tuning(values, base)]
    return corrected(asked)


def _pinning(values: Arms, base: float, *, tuned: bool) -> list[PinningAnswer]:
    free, pinned = PinningArm(tuned, False).name, PinningArm(tuned, True).name
    where = "tuned" if tuned else "untuned"
    return [
        contrast(f"mean: pinning, {where}", values, {pinned: 1, free: -1}, base),
        spread(f"variance: pinning, {where}", values[free], values[pinned]),
    ]


def _tuning(values: Arms, base: float) -> list[PinningAnswer]:
    free, pinned = BASE.name, PinningArm(False, True).name
    tuned, both = PinningArm(True, False).name, PinningArm(True, True).name
    crossed: dict[str, float] = {both: 1, tuned: -1, pinned: -1, free: 1}
    return [
        contrast("mean: tuning, unpinned", values, {tuned: 1, free: -1}, base),
        spread("variance: tuning, unpinned", values[free], values[tuned]),
        contrast("mean: both together", values, {both: 1, free: -1}, base),
        contrast("interaction: does pinning gain more when tuned", values, crossed, base),
    ]
