"""Scales of axes: maps values to pixels, and picks the round values that an axis shows."""

from __future__ import annotations

import math
from dataclasses import dataclass

_STEPS = (1, 2, 2.5, 5, 10)
# A part of a smaller number is zero, and then no step can be found.
_LEAST = 1e-100


@dataclass(frozen=True)
class LinearScale:
    """Maps the values `low` to `high` to the pixels `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    whole: bool = False
    """The values are counts: ticks are whole numbers."""

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """Returns round values within the scale: at most `most`, and at least one."""
        step = round_up((self.high - self.low) / max(1, most - 1), _STEPS)
        step = math.ceil(step) if self.whole else step
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


@dataclass(frozen=True)
class LogScale:
    """Maps the values `low` to `high`, both above zero, to the pixels `start` to `end`.

    Equal ratios are equal distances.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def decades(self) -> list[float]:
        """Returns the powers of ten within the scale; an empty list where there is none."""
        first = math.ceil(math.log10(self.low) - 1e-9)
        last = math.floor(math.log10(self.high) + 1e-9)
        return [10.0**power for power in range(first, last + 1)]


def from_zero(highest: float, start: float, end: float, *, whole: bool = False) -> LinearScale:
    """Returns a scale from zero, so that lengths can be compared, to a little above `highest`."""
    return LinearScale(0, highest * 1.04 if highest > _LEAST else 1, start, end, whole)


def round_up(value: float, steps: tuple[float, ...] = (1, 2, 5, 10)) -> float:
    """Returns the smallest number of `steps` times a power of ten that is at least `value`.

    Returns 1 for a value that is not positive.
    """
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in steps if step * power >= value * (1 - 1e-3))


def number_text(value: float) -> str:
    """Returns a number with three significant digits, without an exponent where it is readable."""
    if value and (abs(value) >= 1e7 or abs(value) < 1e-3):
        return f"{value:.3g}"
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(digits, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
