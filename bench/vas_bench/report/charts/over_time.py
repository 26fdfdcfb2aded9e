"""Draws how fast something went on during runs, a line for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vas_bench.report.charts.marks import Bar, Chart, ChartLine, ChartPath, Mark, Text, text_width
from vas_bench.report.charts.scale import x_axis
from vas_core.svg import LinearScale, from_zero, number_text

_TOP_PX = 30
_AXIS_PX = 44
_PLOT_PX = 220
_KEY_PX = 18
_SWATCH_PX = 12


@dataclass(frozen=True)
class RateLine:
    """A run's line: its name, its colour, and (seconds, growth so far) as `BenchRun.curves` has."""

    name: str
    series: int
    points: Sequence[tuple[float, float]]

    @property
    def rates(self) -> list[tuple[float, float, float]]:
        """From when to when, in seconds, and the growth a second in between."""
        return [
            (now, then, (after - before) / (then - now))
            for (now, before), (then, after) in pairwise(self.points)
        ]

    @property
    def peak(self) -> float:
        """The largest growth a second between two points."""
        return max(rate for *_, rate in self.rates)


def over_time(
    title: str, description: str, lines: Sequence[RateLine], unit: str, width: float
) -> Chart:
    """Draws the chart; both axes begin at zero. `lines` are not empty."""
    top = _TOP_PX + _KEY_PX * len(lines)
    bottom = top + _PLOT_PX
    y_scale = from_zero(max(line.peak for line in lines), bottom, top)
    widest = max(text_width(number_text(tick)) for tick in y_scale.ticks(5))
    x_scale = from_zero(max(line.points[-1][0] for line in lines), widest + 8, width - 12)
    marks = [
        Text(0, 13, unit, style="faint"),
        *_key(lines),
        *_y_axis(y_scale, x_scale),
        *x_axis(x_scale, top, bottom, "seconds since the run began", width=width),
        *(_line(line, x_scale, y_scale) for line in lines),
    ]
    return Chart(title, description, width, bottom + _AXIS_PX, tuple(marks))


def _key(lines: Sequence[RateLine]) -> Iterator[Mark]:
    for row, line in enumerate(lines):
        y = _TOP_PX + row * _KEY_PX
        yield Bar(0, y - _SWATCH_PX + 2, _SWATCH_PX, _SWATCH_PX, f"s{line.series}")
        yield Text(_SWATCH_PX + 8, y, line.name)


def _y_axis(y_scale: LinearScale, x_scale: LinearScale) -> Iterator[Mark]:
    for tick in y_scale.ticks(5):
        y = y_scale(tick)
        yield ChartLine(x_scale.start, y, x_scale.end, y, "grid")
        yield Text(x_scale.start - 6, y + 4, number_text(tick), "end", "faint")


def _line(line: RateLine, x_scale: LinearScale, y_scale: LinearScale) -> Mark:
    steps = [(x_scale(at), y_scale(rate)) for now, then, rate in line.rates for at in (now, then)]
    return ChartPath(steps, f"l{line.series} curve")
