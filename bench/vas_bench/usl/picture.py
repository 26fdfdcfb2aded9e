"""Draws the law through the runs, over the measured range only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vas_bench.report.charts.curve import Curve, curve
from vas_bench.report.charts.marks import Chart
from vas_bench.usl.diagnosis import UslDiagnosis
from vas_bench.usl.fit import Fit, LeftOut, Way
from vas_bench.usl.points import ScalingPoint

_STEPS = 80


def shown_fit(fits: Sequence[Fit | LeftOut], found: UslDiagnosis) -> Fit | None:
    """Returns the fit to draw; None if there is none.

    Where the runs on one node took longer than they should, the fit without them is drawn: the
    point of one node then lies below the curve.
    """
    made = {fit.way: fit for fit in fits if isinstance(fit, Fit)}
    if found.stretched and Way.WITHOUT_ONE in made:
        return made[Way.WITHOUT_ONE]
    return next(iter(made.values()), None)


def picture(
    points: Sequence[ScalingPoint], fit: Fit, found: UslDiagnosis, unit: str, width: float
) -> Chart:
    """Draws runs, the curve with its 95 % band, and the straight line of gamma for each node."""
    law = fit.law
    told = (
        f"{found.verdict}. The {fit.way} fit: sigma {law.sigma:.3g}, kappa {law.kappa:.3g}, "
        f"gamma {law.gamma:.3g}, with its 95 % band; the straight line is linear speedup."
    )
    return curve("Universal Scalability Law", told, through(points, fit, "p", unit), width)


def through(
    points: Sequence[ScalingPoint], fit: Fit | None, x_words: str, y_words: str, series: int = 0
) -> Curve:
    """Draws runs and, if there is a fit, its curve; `series` is the number of their colour."""
    runs = [(it.p, it.throughput) for it in points]
    if fit is None:
        return Curve(runs, [], x_words, y_words, series=series)
    nodes = [float(p) for p in np.linspace(1, fit.largest, _STEPS)]
    model = [(p, *row) for p, row in zip(nodes, fit.band(nodes), strict=True)]
    # Linear speedup, to where it leaves what is drawn.
    end = min(fit.largest, max(x for _, x in runs) / fit.law.gamma)
    straight = (end, end * fit.law.gamma)
    return Curve(runs, model, x_words, y_words, series=series, straight=straight)
