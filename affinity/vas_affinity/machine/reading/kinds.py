"""Finds the kinds of cores of a hybrid machine by the speeds of its CPUs."""

from __future__ import annotations

from collections.abc import Mapping

_ONE_KIND = 1.1
"""Cores of one kind differ in their top speed by less: turbo favours some (hwloc has 10 % too)."""


def efficiencies(speeds: Mapping[int, int]) -> dict[int, int]:
    """Returns CPU -> kind of core, 0 for the slowest; empty if all are of one kind."""
    kinds: list[int] = []
    for speed in sorted(set(speeds.values())):
        if not kinds or speed > kinds[-1] * _ONE_KIND:
            kinds.append(speed)
    if len(kinds) < 2:
        return {}
    return {
        cpu: max(kind for kind, slowest in enumerate(kinds) if slowest <= speed)
        for cpu, speed in speeds.items()
    }
