"""Values to pixels, and the round values that an axis shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from vas_bench.report.charts.marks import ChartLine, Mark, Text, text_width

_STEPS = (1, 2, 2.5, 5, 10)
_TICK_GAP_PX = 22
_LINE_PX = 18


@dataclass(frozen=True)
class ChartScale:
    """A linear scale from `low` to `high`, at the pixels `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    whole: bool = False  # ticks are counts

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """Round values within the scale: at most so many, and at least one."""
        step = _step((self.high - self.low) / max(1, most - 1))
        step = math.ceil(step) if self.whole else step
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in _STEPS if power * factor >= least * (1 - 1e-9))


# A part of a smaller number is zero, and then no step can be found.
_LEAST = 1e-100


def from_zero(highest: float, start: float, end: float, *, whole: bool = False) -> ChartScale:
    """A scale whose lengths can be compared: it begins at zero. It holds `highest`, with room."""
    return ChartScale(0, highest * 1.04 if highest > _LEAST else 1, start, end, whole)


def shown(value: float) -> str:
    """A number with three significant digits, without an exponent where that is readable."""
    if value and (abs(value) >= 1e7 or abs(value) < 1e-3):
        return f"{value:.3g}"
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(digits, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def tenths(value: float) -> str:
    """A number of a column: one decimal, more where that would hide it."""
    return f"{value:.1f}" if value >= 0.1 or value == 0 else shown(value)


def x_axis(
    scale: ChartScale, top: float, bottom: float, unit: str, *, width: float
) -> Iterator[Mark]:
    """Grid lines with their values below, as many as fit side by side, and the unit."""
    for tick in _fitting(scale):
        x, half = scale(tick), text_width(shown(tick)) / 2
        yield ChartLine(x, top, x, bottom, "grid")
        yield Text(min(x, width - half), bottom + _LINE_PX - 2, shown(tick), "middle", "faint")
    yield Text(scale.end, bottom + 2 * _LINE_PX - 2, unit, "end", "faint")


def _fitting(scale: ChartScale) -> list[float]:
    for most in range(9, 1, -1):
        ticks = scale.ticks(most)
        widest = max(text_width(shown(tick)) for tick in ticks)
        if len(ticks) * (widest + _TICK_GAP_PX) <= scale.end - scale.start:
            return ticks
    return scale.ticks(2)
