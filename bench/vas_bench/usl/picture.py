"""The law drawn through the runs, as far as they were measured and no further."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vas_bench.report.charts.curve import Curve, curve
from vas_bench.report.charts.marks import Chart
from vas_bench.usl.diagnosis import Diagnosis
from vas_bench.usl.fit import Fit, LeftOut, Way
from vas_bench.usl.points import Point

_STEPS = 80


def shown_fit(fits: Sequence[Fit | LeftOut], found: Diagnosis) -> Fit | None:
    """The fit to draw: where the baseline is stretched, the one without it; None if there is none.

    One node then lies below the curve, which is what is wrong with it.
    """
    made = {fit.way: fit for fit in fits if isinstance(fit, Fit)}
    if found.stretched and Way.WITHOUT_ONE in made:
        return made[Way.WITHOUT_ONE]
    return next(iter(made.values()), None)


def picture(points: Sequence[Point], fit: Fit, found: Diagnosis, width: float) -> Chart:
    """The chart: runs, curve with its 95 % band, and the straight line of gamma for each node."""
    nodes = np.linspace(1, fit.largest, _STEPS).tolist()
    model = [(p, *values) for p, values in zip(nodes, fit.band(nodes), strict=True)]
    highest = max([it.throughput for it in points] + [high for *_, high in model])
    straight = min(fit.largest, highest / fit.law.gamma)
    drawn = Curve(
        points=[(it.p, it.throughput) for it in points],
        model=model,
        x_words="p",
        y_words="throughput",
        straight=(straight, straight * fit.law.gamma),
    )
    return curve("Universal Scalability Law", _told(fit, found), drawn, width)


def _told(fit: Fit, found: Diagnosis) -> str:
    law = fit.law
    return (
        f"{found.verdict}. The {fit.way} fit: sigma {law.sigma:.3g}, kappa {law.kappa:.3g}, "
        f"gamma {law.gamma:.3g}, with its 95 % band; the straight line is linear speedup."
    )
