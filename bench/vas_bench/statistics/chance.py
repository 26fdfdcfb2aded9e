"""Tests whether arms differ by chance, corrects for how many, and says how many runs that needs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, count
from math import comb

import numpy as np
from scipy import stats

from vas_bench.statistics.bootstrap import ALPHA

# Above this many runs an arm the normal approximation is good, with ties too.
_EXACT_RUNS = 8
_PERMUTATIONS = stats.PermutationMethod(n_resamples=comb(2 * _EXACT_RUNS, _EXACT_RUNS), rng=1)


def rank_test(samples: Sequence[float], base: Sequence[float], *, paired: bool = False) -> float:
    """Returns p of the two-sided Mann-Whitney U test; of Wilcoxon's signed-rank test if paired.

    Exact for few runs also with ties: the approximation calls three against three equal runs
    significant, which three runs can never be.
    """
    if paired:
        return _wilcoxon(samples, base)
    several = min(len(samples), len(base)) > 1
    few = several and max(len(samples), len(base)) <= _EXACT_RUNS
    ours, theirs = np.asarray(samples, dtype=float), np.asarray(base, dtype=float)
    if few and _tied([*samples, *base]):
        return _p(stats.mannwhitneyu(ours, theirs, method=_PERMUTATIONS).pvalue)
    return max(_p(stats.mannwhitneyu(ours, theirs).pvalue), smallest_p(len(ours), len(theirs)))


def _wilcoxon(samples: Sequence[float], base: Sequence[float]) -> float:
    differences = np.subtract(samples, base)
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    tied = _tied(np.abs(differences).tolist())
    few = len(differences) <= 2 * _EXACT_RUNS
    if few and tied:
        return _p(stats.wilcoxon(differences, method=_PERMUTATIONS).pvalue)
    return _p(stats.wilcoxon(differences).pvalue)


def mean_test(
    samples: Sequence[float], base: Sequence[float], *, paired: bool = False
) -> float | None:
    """Returns p of Welch's t test, or of the paired t test; None without a variance."""
    spreads = [np.subtract(samples, base)] if paired else [samples, base]
    if min(map(len, spreads)) < 2 or not any(np.ptp(values) for values in spreads):
        return None
    if paired:
        return _p(stats.ttest_rel(samples, base).pvalue)
    if not all(np.ptp(values) for values in spreads):
        return _welch_of_constant(samples, base)
    return _p(stats.ttest_ind(samples, base, equal_var=False).pvalue)


def _welch_of_constant(samples: Sequence[float], base: Sequence[float]) -> float:
    """Welch's test where one arm's values are all equal, whose variance is therefore exactly 0.

    Computed from the values it would be 0 but for rounding, of which scipy rightly warns.
    """
    (mean, spread), (other_mean, other_spread) = map(_mean_and_spread, (samples, base))
    found = stats.ttest_ind_from_stats(
        mean, spread, len(samples), other_mean, other_spread, len(base), equal_var=False
    )
    return _p(found.pvalue)


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    spread = float(np.std(values, ddof=1)) if np.ptp(values) else 0.0
    return float(np.mean(values)), spread


def smallest_p(n: int, m: int, *, paired: bool = False) -> float:
    """Returns the smallest p that the rank test can give with so many runs."""
    return min(1.0, 2 / (2**n if paired else comb(n + m, n)))


def runs_needed(comparisons: int = 1, *, paired: bool = False) -> int:
    """Returns the fewest runs of each arm with which so many comparisons can be significant."""
    return next(n for n in count(2) if comparisons * smallest_p(n, n, paired=paired) < ALPHA)


def holm(ps: Sequence[float]) -> list[float]:
    """Returns Holm's adjusted p values, in the order given (Scand. J. Statist. 6, 1979, p. 65)."""
    order = sorted(range(len(ps)), key=lambda n: ps[n])
    steps = ((len(ps) - rank) * ps[n] for rank, n in enumerate(order))
    adjusted = dict(zip(order, accumulate(steps, max), strict=True))
    return [float(min(1.0, adjusted[n])) for n in range(len(ps))]


def smallest_adjusted(smallest: Sequence[float]) -> list[float]:
    """Returns the smallest p that each comparison can reach after Holm's correction.

    All that cannot reach less than it count against it: one of them is the first to be judged.
    """
    return [min(1.0, p * sum(other >= p for other in smallest)) for p in smallest]


def _tied(values: Sequence[float]) -> bool:
    return len(set(values)) < len(values)


def _p(value: object) -> float:
    return float(np.asarray(value))
