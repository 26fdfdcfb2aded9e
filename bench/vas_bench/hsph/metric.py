"""Computes HSph from two runs, with its disclaimers (TPCx-HS specification, 2.3, 4.1 to 4.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log10
from types import MappingProxyType
from typing import Any

from vas_bench.hsph.price import PriceList
from vas_bench.statistics.gain import BetterDirection, gain
from vas_bench.statistics.ratio import ratio
from vas_core.errors import BadInput

NOT_TPC = "HSph-like: not a TPC result, and not to be compared with one"
DIFFERENT_SCALE = (
    "the scale factors differ: results are comparable only at the same one, and these are not"
)
PHASES = ("generate", "check input", "sort", "check output", "validate")
SCALE_FACTORS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
RECORDS_PER_TB = 10**10
_HOUR_SECONDS = 3600
_ROUNDING_SECONDS = 0.01
# The published price per performance is that of the metric as published, with two decimals. A
# lab's metric is a few thousandths: it has three digits that count.
_METRIC_DECIMALS = 2
_METRIC_DIGITS = 3


@dataclass(frozen=True)
class HsphRun:
    """A run of the five phases, in order. `scale_factor` is the data's size in TB (10^12 bytes).

    `total_seconds` is from before the first phase to after the last, checks and gaps included.
    `configuration` is a hash of all settings. Raises BadInput for other phases, and for phases
    that take longer than the total.
    """

    scale_factor: float
    total_seconds: float
    phase_seconds: Mapping[str, float]
    configuration: str = ""
    joules: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "phase_seconds", MappingProxyType(dict(self.phase_seconds)))
        if tuple(self.phase_seconds) != PHASES:
            text = f"the phases are {', '.join(self.phase_seconds)}"
            raise BadInput(text, hint=f"in this order: {', '.join(PHASES)}")
        if self.scale_factor <= 0 or self.total_seconds <= 0 or min(self._seconds) < 0:
            raise BadInput("a scale factor or a time is not above zero", where="an HSph run")
        if self.unaccounted_seconds < -_ROUNDING_SECONDS:
            text = f"phases take {sum(self._seconds):g} s, all of it {self.total_seconds:g} s"
            raise BadInput(text, hint="measure the total from before the first to after the last")

    @property
    def _seconds(self) -> list[float]:
        return list(self.phase_seconds.values())

    @property
    def unaccounted_seconds(self) -> float:
        """The seconds of the total that are in no phase: gaps, listings, what nobody timed."""
        return self.total_seconds - sum(self._seconds)

    @property
    def hsph(self) -> float:
        """The metric, SF / (T / 3600): terabytes an hour that went through all five phases."""
        return self.scale_factor / (self.total_seconds / _HOUR_SECONDS)

    @property
    def printed(self) -> str:
        """The metric as it is published: two decimals, more where it is below one."""
        least = _METRIC_DIGITS - 1 - floor(log10(self.hsph))
        return f"{self.hsph:.{max(_METRIC_DECIMALS, least)}f}"

    @property
    def watts_per_khsph(self) -> float | None:
        """The mean power in watts for 1000 HSph; None if no meter was read."""
        if self.joules is None:
            return None
        return self.joules / self.total_seconds / (self.hsph / 1000)


@dataclass(frozen=True)
class HsphResult:
    """The result of two runs with nothing changed between them: the lower metric is reported.

    Raises BadInput for two scale factors or two configurations.
    """

    name: str
    first: HsphRun
    second: HsphRun
    prices: PriceList | None = None

    def __post_init__(self) -> None:
        if self.first.scale_factor != self.second.scale_factor:
            raise BadInput(DIFFERENT_SCALE, where=self.name, hint="run both at the same one")
        if self.first.configuration != self.second.configuration:
            hint = "run both again, with nothing changed between them"
            raise BadInput("the runs have two configurations", where=self.name, hint=hint)

    @property
    def reported(self) -> HsphRun:
        """The run with the lower metric, TPCx-HS's performance run."""
        return min(self.first, self.second, key=lambda run: run.hsph)

    @property
    def repeated(self) -> HsphRun:
        """The run with the higher metric, TPCx-HS's repeatability run."""
        return self.second if self.reported is self.first else self.first

    @property
    def price_per_hsph(self) -> float | None:
        """The price of one HSph in the price list's currency; None without a list."""
        return self.prices.total / float(self.reported.printed) if self.prices else None

    def as_json(self) -> dict[str, Any]:
        """Returns the whole result, and that it is not a TPC result."""
        run = self.reported
        return {
            "disclaimer": NOT_TPC,
            "name": self.name,
            "scale_factor": run.scale_factor,
            "scale_factor_of_the_specification": run.scale_factor in SCALE_FACTORS,
            "hsph": run.hsph,
            "hsph_of_the_other_run": self.repeated.hsph,
            "total_seconds": run.total_seconds,
            "phase_seconds": dict(run.phase_seconds),
            "unaccounted_seconds": run.unaccounted_seconds,
            "phase_seconds_of_the_other_run": dict(self.repeated.phase_seconds),
            "joules": run.joules,
            "price": self.prices.total if self.prices else None,
            "currency": self.prices.currency if self.prices else None,
            "price_per_hsph": self.price_per_hsph,
            "watts_per_khsph": run.watts_per_khsph,
        }

    def lines(self) -> list[str]:
        """Returns lines for people: the metric, where the time went, that TPC has no part in it."""
        run = self.reported
        found = [
            f"{self.name}: {run.printed} HSph@{run.scale_factor:g}TB, the lower of two runs "
            f"(the other: {self.repeated.printed})",
            *(f"  {name}: {seconds:.1f} s" for name, seconds in run.phase_seconds.items()),
            f"  unaccounted: {run.unaccounted_seconds:.1f} s",
            f"  total: {run.total_seconds:.1f} s",
        ]
        if self.prices:
            found.append(f"  {self.price_per_hsph:,.2f} {self.prices.currency}/HSph")
        if run.watts_per_khsph is not None:
            found.append(f"  {run.watts_per_khsph:,.1f} W/KHSph")
        if run.scale_factor not in SCALE_FACTORS:
            found.append(f"  {run.scale_factor:g} TB is not a scale factor of the specification")
        return [*found, NOT_TPC]


def compared(ours: HsphResult, base: HsphResult) -> list[str]:
    """Returns what one result gains over another, in words, with its base.

    Raises BadInput for different scale factors.
    """
    if ours.reported.scale_factor != base.reported.scale_factor:
        raise BadInput(DIFFERENT_SCALE, where=f"{ours.name} and {base.name}")
    both = ratio([ours.reported.hsph], [base.reported.hsph])
    gained = gain(both, base.name, BetterDirection.HIGHER).in_words
    return [f"{ours.name}: {gained}; one run of each, no interval", NOT_TPC]
