"""Corrects p values for how many questions were asked of the same runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def holm(ps: Sequence[float]) -> list[float]:
    """Returns Holm's adjusted p values, in the order given (Scand. J. Statist. 6, 1979, p. 65)."""
    order = sorted(range(len(ps)), key=lambda n: ps[n])
    steps = ((len(ps) - rank) * ps[n] for rank, n in enumerate(order))
    adjusted = dict(zip(order, accumulate(steps, max), strict=True))
    return [float(min(1.0, adjusted[n])) for n in range(len(ps))]
