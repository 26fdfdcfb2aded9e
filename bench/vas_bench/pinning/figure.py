"""Draws an experiment: a dot for each run, and each arm's mean with its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence

from vas_bench.pinning.conduct import PinningResult
from vas_bench.statistics.summary import summary
from vas_core.svg import PALETTE, LinearScale, Svg, number_text

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 960.0, 190.0, 40.0, 62.0, 56.0
_SPREAD_PIXELS = 13
_MOST_TICKS = 9


def draw_arms(result: PinningResult) -> Svg:
    """Draws one row for each arm."""
    svg = Svg(_WIDTH)
    most = max(run.measures["work_rate"] for run in result.runs) * 1.15 or 1.0
    bottom = _TOP + _ROW * len(result.values)
    svg.text(16, 24, f"{result.metric} by arm: a dot is a run", size=14, bold=True)
    svg.text(16, 42, "bar: mean and its 95 % interval (t)", size=11, kind="muted")
    scale = LinearScale(0, most, _LEFT, _WIDTH - _RIGHT)
    _axis(svg, scale, bottom)
    for row, (name, values) in enumerate(result.values.items()):
        _arm(svg, name, values, _TOP + (row + 0.5) * _ROW, scale, PALETTE[row])
    svg.height = bottom + 34
    return svg


def _arm(
    svg: Svg, name: str, values: Sequence[float], middle: float, scale: LinearScale, colour: str
) -> None:
    one = summary(values)
    svg.text(16, middle - 2, name, size=12)
    spread = f"sd/mean {100 * one.cv:.1f} %, n = {one.n}"
    svg.text(16, middle + 14, spread, size=10, kind="muted")
    assert one.mean_interval, "an arm has two runs or more"
    low, high = one.mean_interval
    about = f"{name}\nmean {one.mean:.1f}, 95 % {low:.1f} to {high:.1f}"
    left, right = (scale(min(scale.high, max(0.0, end))) for end in (low, high))
    with svg.group(about, class_="cell", data_key=name):
        for number, value in enumerate(values):
            y = middle + _SPREAD_PIXELS * (number / max(1, len(values) - 1) - 0.5) * 2
            svg.dot(scale(value), y, 3.5, colour, fill_opacity=0.7)
        svg.path(f"M{left:g} {middle:g}H{right:g}", "line", 2)
        svg.path(f"M{scale(one.mean):g} {middle - 15:g}v30", "line", 2.5)


def _axis(svg: Svg, scale: LinearScale, bottom: float) -> None:
    ticks = scale.ticks(_MOST_TICKS)
    lines = "".join(f"M{scale(value):g} {_TOP:g}V{bottom:g}" for value in ticks)
    svg.path(lines, "rule", 1)
    for value in ticks:
        text = number_text(value)
        svg.text(scale(value), bottom + 18, text, size=11, anchor="middle", kind="muted")
