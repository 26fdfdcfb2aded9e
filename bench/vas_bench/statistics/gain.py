"""Puts a ratio in words, always with its base: 29 % less time is 41 % more throughput."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vas_bench.statistics.bootstrap import Interval
from vas_bench.statistics.ratio import MedianRatio
from vas_core.errors import BadInput


class BetterDirection(StrEnum):
    """The direction in which values are better: times and costs lower, rates higher."""

    LOWER = "lower"
    HIGHER = "higher"


@dataclass(frozen=True)
class Gain:
    """Both ways to say one ratio to a base, as shares (0.29 is 29 %); losses are negative.

    `time_saved` is of the base's time, 1 - t/T; `throughput_gained` is over the base's, T/t - 1.
    They are said together and with the base, so that they cannot be mixed up. `better` tells which
    of the two was measured.
    """

    base: str
    better: BetterDirection
    time_saved: float
    time_saved_interval: Interval
    throughput_gained: float
    throughput_gained_interval: Interval

    @property
    def in_words(self) -> str:
        """The gain: `29.0 % less time than BASE (25.1 to 33.0), which is 40.8 % more throughput`.

        What was measured comes first.
        """
        time, throughput = -self.time_saved, self.throughput_gained
        if self.better is BetterDirection.LOWER:
            ends = _negative(self.time_saved_interval)
            said = changed(time, ends, "time", self.base)
            return f"{said}, which is {_moved(throughput)} throughput"
        said = changed(throughput, self.throughput_gained_interval, "throughput", self.base)
        return f"{said}, which is {_moved(time)} time"


def gain(ratio: MedianRatio, base: str, better: BetterDirection) -> Gain:
    """Returns an arm's gain over the base; `ratio` is arm / base, of times or of rates.

    Raises BadInput if it is not above zero.
    """
    if ratio.low <= 0:
        raise BadInput("nothing cannot be compared as a time or a rate", where=f"a ratio to {base}")
    times = (ratio.value, ratio.low, ratio.high)
    if better is BetterDirection.HIGHER:
        times = (1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
    value, low, high = times
    return Gain(
        base=base,
        better=better,
        time_saved=1 - value,
        time_saved_interval=(1 - high, 1 - low),
        throughput_gained=1 / value - 1,
        throughput_gained_interval=(1 / high - 1, 1 / low - 1),
    )


def changed(share: float, interval: Interval, what: str, base: str) -> str:
    """Returns a ratio minus 1 in words, like `29.0 % less WHAT than BASE (25.1 to 33.0)`."""
    sign = 1 if share >= 0 else -1
    low, high = sorted(100 * sign * end for end in interval)
    said = f"{_moved(share)} {what} than {base}"
    return f"{said} ({low:.1f} to {high:.1f})" if low < high else said


def _moved(share: float) -> str:
    return f"{abs(share) * 100:.1f} % {'more' if share >= 0 else 'less'}"


def _negative(interval: Interval) -> Interval:
    return -interval[1], -interval[0]
