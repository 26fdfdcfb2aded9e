"""Draws a curve with its band through measured points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vas_bench.report.charts.marks import Chart, ChartLine, ChartPath, Dot, Mark, Text, text_width
from vas_bench.report.charts.scale import x_axis
from vas_core.svg import LinearScale, from_zero, number_text

_TOP_PX = 26
_AXIS_PX = 44
_PLOT_PX = 260


@dataclass(frozen=True)
class Curve:
    """A curve: (x, y) of runs; (x, y, low, high) of the model; and the axes' words."""

    points: Sequence[tuple[float, float]]
    model: Sequence[tuple[float, float, float, float]]
    x_words: str
    y_words: str
    series: int = 0
    straight: tuple[float, float] | None = None  # where y = slope * x ends, for comparison


def curve(title: str, description: str, drawn: Curve, width: float) -> Chart:
    """Draws the chart; both axes begin at zero."""
    highest = max([y for _, y in drawn.points] + [high for *_, high in drawn.model])
    y_scale = from_zero(highest, _TOP_PX + _PLOT_PX, _TOP_PX)
    widest = max(text_width(number_text(tick)) for tick in y_scale.ticks(6))
    far = max([x for x, _ in drawn.points] + [x for x, *_ in drawn.model])
    x_scale = from_zero(far, widest + 8, width - 12, whole=True)
    marks = [
        Text(0, 13, drawn.y_words, style="faint"),
        *_y_axis(y_scale, x_scale),
        *x_axis(x_scale, _TOP_PX, _TOP_PX + _PLOT_PX, drawn.x_words, width=width),
        *_model(drawn, x_scale, y_scale),
        *(Dot(x_scale(x), y_scale(y), f"s{drawn.series} point") for x, y in drawn.points),
    ]
    return Chart(title, description, width, _TOP_PX + _PLOT_PX + _AXIS_PX, tuple(marks))


def _y_axis(y_scale: LinearScale, x_scale: LinearScale) -> Iterator[Mark]:
    for tick in y_scale.ticks(6):
        y = y_scale(tick)
        yield ChartLine(x_scale.start, y, x_scale.end, y, "grid")
        yield Text(x_scale.start - 6, y + 4, number_text(tick), "end", "faint")


def _model(drawn: Curve, x_scale: LinearScale, y_scale: LinearScale) -> Iterator[Mark]:
    if drawn.straight:
        x, y = drawn.straight
        yield ChartLine(x_scale(0), y_scale(0), x_scale(x), y_scale(y), "reference")
    if drawn.model:
        upper = [(x_scale(x), y_scale(high)) for x, _, _, high in drawn.model]
        lower = [(x_scale(x), y_scale(low)) for x, _, low, _ in drawn.model]
        yield ChartPath([*upper, *reversed(lower)], f"s{drawn.series} band", closed=True)
        yield ChartPath(
            [(x_scale(x), y_scale(y)) for x, y, _, _ in drawn.model], f"l{drawn.series} curve"
        )
