"""Fits the law's coefficients by least squares: sigma without a bound, kappa at least zero."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from vas_bench.usl.law import Law

Array = NDArray[np.float64]
_START = Law(0.01, 1e-4)
# Contention or coherency that costs so little of the throughput at the largest p is rounding.
_NOTHING = 1e-9


def solve(p: Array, x: Array, gamma: float | None = None) -> Law:
    """Returns the law nearest to throughputs `x` at nodes `p`; gamma is free if not given.

    A kappa below zero would let speedup grow past any bound: if that fits best, kappa is 0. To
    bound sigma too (the R package `usl` does) would hide superlinear data in a wrong gamma.
    """
    law = _solve(p, x, gamma, with_kappa=True)
    if law.kappa * p.max() ** 2 <= _NOTHING:
        law = _solve(p, x, gamma, with_kappa=False)
    # Rounding below zero would be a pole, rounding above it a ceiling, both far outside the runs.
    return replace(law, sigma=0.0) if abs(law.sigma) * p.max() <= _NOTHING else law


def _solve(p: Array, x: Array, gamma: float | None, *, with_kappa: bool) -> Law:
    """From the law's linear form, or from a plain start if that ends in a pole within the data."""
    scale = float(x.mean())
    fixed = None if gamma is None else gamma / scale
    start = _linear(p, x / scale, fixed, with_kappa)
    found = _refine(p, x / scale, fixed, start)
    if found.pole is not None and found.pole <= p.max():
        plain = np.array([_START.sigma, *([_START.kappa] * with_kappa), *([1.0] * (gamma is None))])
        other = _refine(p, x / scale, fixed, (plain, start[1]))
        found = min(found, other, key=lambda law: _squares(law, p, x / scale))
    return Law(found.sigma, found.kappa, found.gamma * scale)


Start = tuple[Array, Callable[[Array], Law]]


def _linear(p: Array, x: Array, gamma: float | None, with_kappa: bool) -> Start:
    """p / X(p) is linear in 1/gamma, sigma/gamma and kappa/gamma; its errors weigh X^2 / p."""
    weight = x * x / p
    columns = [p - 1, p * (p - 1)] if with_kappa else [p - 1]
    if gamma is not None:
        found = _linear_squares(columns, p / x - 1 / gamma, weight) * gamma
        return found, lambda at: _law([*at, gamma], with_kappa)
    found = _linear_squares([*columns, np.ones_like(p)], p / x, weight)
    return np.append(found[:-1], 1) / found[-1], lambda at: _law(at, with_kappa)


def _linear_squares(columns: list[Array], right: Array, weight: Array) -> Array:
    found = np.linalg.lstsq(np.stack(columns, 1) * weight[:, None], right * weight)[0]
    return np.asarray(found, dtype=float)


def _law(values: Iterable[float], with_kappa: bool) -> Law:
    sigma, *kappa, gamma = (float(value) for value in values)
    return Law(sigma, kappa[0] if with_kappa else 0.0, gamma)


def _refine(p: Array, x: Array, gamma: float | None, start: Start) -> Law:
    values, law_of = start
    free = len(values) - (gamma is None)

    def errors(at: Array) -> Array:
        return law_of(at).throughput(p) - x

    def slopes(at: Array) -> Array:
        law = law_of(at)
        ideal = law.throughput(p) / p
        by_sigma = -ideal * ideal * p * (p - 1) / law.gamma
        columns = [by_sigma, by_sigma * p][:free]
        return np.stack([*columns, *([law.speedup(p)] if gamma is None else [])], 1)

    return law_of(least_squares(errors, values, jac=slopes, method="lm", x_scale="jac").x)


def _squares(law: Law, p: Array, x: Array) -> float:
    return float(np.sum((law.throughput(p) - x) ** 2))
