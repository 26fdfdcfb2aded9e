"""Describes a figure of several rounds by its median, and its least and largest value."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of several rounds, and their least and largest value."""

    median: float
    least: float
    most: float

    def cells(self, unit: float, digits: int = 0) -> tuple[str, str]:
        """Returns two cells of a table: the median, and the least and largest value."""
        median, least, most = (
            f"{value / unit:,.{digits}f}" for value in (self.median, self.least, self.most)
        )
        return median, f"{least} to {most}"


def spread_of(values: Iterable[float]) -> Spread:
    """Returns the spread of values. There must be one at least."""
    found = list(values)
    return Spread(statistics.median(found), min(found), max(found))
