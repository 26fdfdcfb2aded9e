"""Estimates how long rounds take: a guess, until the same subject has run here. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple

from vas_bench.engine.rounds import Round, S
from vas_core.progress import Step


class Expected(NamedTuple):
    """Seconds of what comes before a run, such as a lab's start, and of the run with its check."""

    before: float
    run: float


class Estimates(Generic[S]):
    """The seconds of each round: as guessed, or as runs of its subject took."""

    def __init__(self, rounds: Iterable[Round[S]], guessed: Iterable[Expected]) -> None:
        self._expected = dict(zip((each.key for each in rounds), guessed, strict=True))
        self._took: dict[str, float] = {}

    def of(self, round_: Round[S]) -> float:
        """Returns the seconds that a round will take."""
        before, run = self._expected[round_.key]
        return before + self._took.get(round_.identity.hash, run)

    def took(self, round_: Round[S], seconds: float) -> None:
        """Remembers the seconds of a round; what was guessed before its run is not the run's."""
        before, _ = self._expected[round_.key]
        self._took[round_.identity.hash] = max(0.0, seconds - before)

    def steps(self, rounds: Sequence[Round[S]]) -> list[Step]:
        """Returns the rounds as steps of a progress display."""
        return [Step(each.title, self.of(each)) for each in rounds]
