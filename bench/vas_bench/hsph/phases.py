"""Plays and times the five phases once, strictly in order."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from vas_bench.hsph.metric import PHASES


class Work(Protocol):
    """Work that is timed. Both methods raise VasError when they fail; then no result exists."""

    def clean(self) -> None:
        """Removes the files of the run before: nothing else may be done between two runs."""

    def play(self, phase: str) -> None:
        """Runs one of `metric.PHASES` to its end."""


@dataclass(frozen=True)
class Timed:
    """The wall seconds of a run and of each of its phases; joules where a meter was read."""

    total_seconds: float
    phase_seconds: dict[str, float]
    joules: float | None = None


def play_once(
    work: Work,
    around: Callable[[str], AbstractContextManager[None]],
    *,
    joules: Callable[[], float | None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
) -> Timed:
    """Cleans, then plays every phase. The total, T, is from before the first to after the last.

    `around` is entered for each phase and counts as a gap, which T has. `joules` is a meter's
    reading. Whatever a phase raises ends it.
    """
    work.clean()
    metered, started = joules(), clock()
    seconds: dict[str, float] = {}
    for phase in PHASES:
        with around(phase):
            began = clock()
            work.play(phase)
            seconds[phase] = clock() - began
    total, now = clock() - started, joules()
    used = None if metered is None or now is None else now - metered
    return Timed(total, seconds, used)
