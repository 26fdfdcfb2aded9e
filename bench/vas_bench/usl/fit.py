"""Three fits of the law to the same runs, each with its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from vas_bench.statistics.bootstrap import CONFIDENCE, Interval
from vas_bench.usl.law import Law, or_never
from vas_bench.usl.points import ScalingPoint, single_node
from vas_bench.usl.solve import Array, solve

RESAMPLES = 500
_SEED = 1
# Of these resamples, fits that ended in a pole are left out; with fewer than this share of them
# left an interval would say nothing.
_LEAST_SHARE = 0.8


class Way(StrEnum):
    """The kinds of fit: which coefficients are free, and which runs are used."""

    TWO = "two-parameter"
    THREE = "three-parameter"
    WITHOUT_ONE = "three-parameter-without-p1"


@dataclass(frozen=True)
class Fit:
    """A fit; `resampled` are the laws of the bootstrap, empty without residuals.

    `rmse` is in the unit of throughput; `largest` and `smallest` are the p's that were measured.
    """

    way: Way
    law: Law
    n: int
    rmse: float
    smallest: float
    largest: float
    resampled: tuple[Law, ...] = ()

    def interval(self, name: str) -> Interval | None:
        """Returns the 95 % interval of a coefficient or derived figure; an end may be infinite."""
        if not self.resampled or getattr(self.law, name) is None:
            return None
        values = [or_never(getattr(law, name)) for law in self.resampled]
        ends = np.quantile(values, _ENDS, method="nearest")
        return float(ends[0]), float(ends[1])

    def band(self, p: Sequence[float]) -> list[tuple[float, float, float]]:
        """Returns the throughput at each p, and the 95 % interval of the curve there."""
        at = np.asarray(p, dtype=float)
        middle = self.law.throughput(at)
        curves = np.array([law.throughput(at) for law in self.resampled or (self.law,)])
        low, high = np.quantile(curves, _ENDS, axis=0)
        rows = zip(middle, np.minimum(low, middle), np.maximum(high, middle), strict=True)
        return [(float(m), float(lo), float(hi)) for m, lo, hi in rows]

    def unseen(self) -> list[str]:
        """Returns the derived figures beyond the measured range: extrapolated, not seen."""
        places = {"peak": self.law.peak, "max_speedup": self.law.peak}
        places |= {"crossover": self.law.crossover}
        beyond = [name for name, p in places.items() if p is not None and p > self.largest]
        return beyond + ["ceiling"] * (self.law.ceiling is not None)


_ENDS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class LeftOut:
    """A fit that the runs do not allow, and why; `law` is one that was found and has a pole."""

    way: Way
    why: str
    law: Law | None = None


def fit_all(points: Sequence[ScalingPoint], *, resamples: int = RESAMPLES) -> list[Fit | LeftOut]:
    """Makes the three fits of `Way`; each needs as many node counts as free parameters."""
    return [_fit(way, points, resamples) for way in Way]


def _fit(way: Way, points: Sequence[ScalingPoint], resamples: int) -> Fit | LeftOut:
    used = [it for it in points if way is not Way.WITHOUT_ONE or it.p != 1]
    if way is Way.TWO and single_node(points) is None:
        return LeftOut(way, "one node was not measured")
    counts = {it.p for it in used}
    if len(counts) < _LEAST_COUNTS:
        return LeftOut(way, f"{len(counts)} node counts, {_LEAST_COUNTS} are needed")
    p, x = (
        np.array(list(values)) for values in zip(*((i.p, i.throughput) for i in used), strict=True)
    )
    law = _solved(way, p, x)
    if law.pole is not None:
        return LeftOut(way, f"it has no value at p = {law.pole:.3g} (a pole)", law)
    rmse = float(np.sqrt(np.mean((law.throughput(p) - x) ** 2)))
    resampled = tuple(_resampled(way, law, p, x, resamples))
    return Fit(way, law, len(used), rmse, float(p.min()), float(p.max()), resampled)


_LEAST_COUNTS = 3


def _solved(way: Way, p: Array, x: Array) -> Law:
    return solve(p, x, float(x[p == 1].mean()) if way is Way.TWO else None)


def _resampled(way: Way, law: Law, p: Array, x: Array, resamples: int) -> list[Law]:
    """Fits to the law's own throughputs with the runs' relative errors dealt out again.

    The errors are centred and widened by sqrt(n / (n - 3)) for what the fit took of them.
    """
    n = len(x)
    if n <= _LEAST_COUNTS or not resamples:
        return []
    model = law.throughput(p)
    errors = (x / model - 1) * np.sqrt(n / (n - _LEAST_COUNTS))
    errors -= errors.mean()
    dealt = np.random.default_rng(_SEED).choice(errors, (resamples, n))
    found = [_solved(way, p, model * np.maximum(1 + row, 0.01)) for row in dealt]
    kept = [it for it in found if it.pole is None]
    return kept if len(kept) >= _LEAST_SHARE * resamples else []
