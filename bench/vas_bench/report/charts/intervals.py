"""Draws arms one below the other: each with its runs as points, their middle, and its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vas_bench.report.charts.marks import Bar, Chart, ChartLine, Dot, Mark, Text, fitted, text_width
from vas_bench.report.charts.scale import x_axis
from vas_core.svg import LinearScale, from_zero

_ROW_PX = 56
_SIDE_PX = 14
_TOP_PX = 20.0
_BAR_PX = 34.0
_AXIS_PX = 44
_GAP_PX = 12


@dataclass(frozen=True)
class IntervalRow:
    """An arm: its colour's number, value, interval, the same in words, and the single runs."""

    name: str
    series: int
    value: float
    low: float
    high: float
    words: str
    points: tuple[float, ...] = ()


@dataclass(frozen=True)
class Axis:
    """The axis of a chart: its unit, and a value to compare the rows with, if any."""

    unit: str
    reference: float | None = None
    reference_text: str = ""


def intervals(
    title: str, description: str, rows: Sequence[IntervalRow], axis: Axis, width: float
) -> Chart:
    """Draws the chart. The axis begins at zero, so that lengths are right."""
    row_px = _ROW_PX + (18 if any(not _beside(row, width) for row in rows) else 0)
    top = _TOP_PX if axis.reference is not None else 4.0
    bottom = top + row_px * len(rows)
    highest = max(max((row.high, row.value, *row.points)) for row in rows)
    scale = from_zero(max(highest, axis.reference or 0), _SIDE_PX, width - _SIDE_PX)
    marks = [
        *x_axis(scale, top, bottom, axis.unit, width=width),
        *_reference(axis, scale, len(rows), row_px),
    ]
    for number, row in enumerate(rows):
        marks += _row(row, scale, top + number * row_px, row_px, width)
    return Chart(title, description, width, bottom + _AXIS_PX, tuple(marks))


def _beside(row: IntervalRow, width: float) -> bool:
    return text_width(row.name) + text_width(row.words) + _GAP_PX <= width


def _reference(axis: Axis, scale: LinearScale, rows: int, row_px: float) -> Iterator[Mark]:
    """Its line, interrupted where words stand, and its name above."""
    if axis.reference is None:
        return
    x, half = scale(axis.reference), text_width(axis.reference_text) / 2
    for number in range(rows):
        end = _TOP_PX + (number + 1) * row_px
        yield ChartLine(x, end - _BAR_PX, x, end, "reference")
    yield Text(
        min(max(x, half), scale.end + _SIDE_PX - half), 13, axis.reference_text, "middle", "faint"
    )


def _row(
    row: IntervalRow, scale: LinearScale, top: float, height: float, width: float
) -> Iterator[Mark]:
    yield Text(0, top + 18, fitted(row.name, width), style="ink strong")
    if height == _ROW_PX:
        yield Text(width, top + 18, row.words, "end", "ink")
    else:
        yield Text(0, top + 35, fitted(row.words, width), style="ink")
    middle = top + height - 24
    yield Bar(scale.start, middle - 5, scale(row.value) - scale.start, 10, f"s{row.series} soft")
    for point in row.points:
        yield Dot(scale(point), middle + 13, f"s{row.series} point")
    if row.low < row.high:
        yield ChartLine(scale(row.low), middle, scale(row.high), middle, "whisker")
        for end in (row.low, row.high):
            yield ChartLine(scale(end), middle - 5, scale(end), middle + 5, "whisker")
    yield ChartLine(
        scale(row.value), middle - 9, scale(row.value), middle + 9, f"l{row.series} middle"
    )
