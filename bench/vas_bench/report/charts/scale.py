"""Formats the numbers of a chart and draws its axis."""

from __future__ import annotations

from collections.abc import Iterator

from vas_bench.report.charts.marks import ChartLine, Mark, Text, text_width
from vas_core.svg import LinearScale, number_text

_TICK_GAP_PX = 22
_LINE_PX = 18


def tenths(value: float) -> str:
    """Formats a number of a column with one decimal, or with more where that would show 0."""
    return f"{value:.1f}" if value >= 0.1 or value == 0 else number_text(value)


def x_axis(
    scale: LinearScale, top: float, bottom: float, unit: str, *, width: float
) -> Iterator[Mark]:
    """Yields grid lines with their values below, as many as fit side by side, and the unit."""
    for tick in _fitting(scale):
        x, half = scale(tick), text_width(number_text(tick)) / 2
        yield ChartLine(x, top, x, bottom, "grid")
        yield Text(
            min(x, width - half), bottom + _LINE_PX - 2, number_text(tick), "middle", "faint"
        )
    yield Text(scale.end, bottom + 2 * _LINE_PX - 2, unit, "end", "faint")


def _fitting(scale: LinearScale) -> list[float]:
    for most in range(9, 1, -1):
        ticks = scale.ticks(most)
        widest = max(text_width(number_text(tick)) for tick in ticks)
        if len(ticks) * (widest + _TICK_GAP_PX) <= scale.end - scale.start:
            return ticks
    return scale.ticks(2)
