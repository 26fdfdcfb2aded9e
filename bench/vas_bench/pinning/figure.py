"""Draws an experiment: a dot for each run, and each arm's mean with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import stats

from vas_bench.pinning.conduct import PinningResult
from vas_bench.pinning.statistics import summarize
from vas_core.svg import PALETTE, Svg

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 960.0, 190.0, 40.0, 62.0, 56.0
_SPREAD_PIXELS = 13


def draw_arms(result: PinningResult) -> Svg:
    """Draws one row for each arm."""
    svg = Svg(_WIDTH)
    most = max(run.measures["work_rate"] for run in result.runs) * 1.15 or 1.0
    bottom = _TOP + _ROW * len(result.values)
    svg.text(16, 24, f"{result.metric} by arm: a dot is a run", size=14, bold=True)
    svg.text(16, 42, "bar: mean and its 95 % interval (t)", size=11, kind="muted")
    _axis(svg, most, bottom)
    for row, (name, values) in enumerate(result.values.items()):
        colour = PALETTE[row]
        middle = _TOP + (row + 0.5) * _ROW
        one = summarize(values)
        svg.text(16, middle - 2, name, size=12)
        about = f"sd/mean {100 * one.relative_sd:.1f} %, n = {one.n}"
        svg.text(16, middle + 14, about, size=10, kind="muted")
        _arm(svg, name, values, middle, most, colour)
    svg.height = bottom + 34
    return svg


def _arm(
    svg: Svg, name: str, values: Sequence[float], middle: float, most: float, colour: str
) -> None:
    one = summarize(values)
    half = float(stats.t.ppf(0.975, one.n - 1)) * one.sd / math.sqrt(one.n)
    low, mean, high = (_x(value, most) for value in (one.mean - half, one.mean, one.mean + half))
    about = f"{name}\nmean {one.mean:.1f}, 95 % {one.mean - half:.1f} to {one.mean + half:.1f}"
    with svg.group(about, class_="cell", data_key=name):
        for number, value in enumerate(values):
            y = middle + _SPREAD_PIXELS * (number / max(1, len(values) - 1) - 0.5) * 2
            svg.dot(_x(value, most), y, 3.5, colour, fill_opacity=0.7)
        svg.path(f"M{low:g} {middle:g}H{high:g}", "line", 2)
        svg.path(f"M{mean:g} {middle - 15:g}v30", "line", 2.5)


def _axis(svg: Svg, most: float, bottom: float) -> None:
    step = 10.0 ** math.floor(math.log10(most))
    step = next(step * part for part in (0.2, 0.5, 1, 2) if most / (step * part) <= 8)
    ticks = [step * n for n in range(int(most / step) + 1)]
    lines = "".join(f"M{_x(value, most):g} {_TOP:g}V{bottom:g}" for value in ticks)
    svg.path(lines, "rule", 1)
    for value in ticks:
        svg.text(_x(value, most), bottom + 18, f"{value:g}", size=11, anchor="middle", kind="muted")


def _x(value: float, most: float) -> float:
    whole = _WIDTH - _LEFT - _RIGHT
    return round(_LEFT + whole * min(1.0, max(0.0, value / most)), 1)
