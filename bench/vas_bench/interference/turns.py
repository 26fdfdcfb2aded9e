"""The turns of a session: which arm when, with its patterns in which order. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from vas_bench.arms.rounds import draw
from vas_bench.interference.patterns import PATTERN_NAMES, ArmName


@dataclass(frozen=True)
class Turn:
    """One arm in one round, from 1; `patterns` in the order they are to be measured."""

    arm: ArmName
    round: int
    warm_up: bool
    patterns: tuple[str, ...]

    @property
    def key(self) -> tuple[str, int, bool]:
        """What no two turns have in common."""
        return self.arm, self.round, self.warm_up

    @property
    def title(self) -> str:
        """In words."""
        return f"{'warm-up' if self.warm_up else 'round'} {self.round}: {self.arm}"


class Played(BaseModel):
    """What came of a turn: bytes a second by pattern, seconds of each job that ran beside."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arm: ArmName
    round: int
    warm_up: bool
    bytes_per_second: dict[str, float]
    job_seconds: tuple[float, ...]

    @property
    def key(self) -> tuple[str, int, bool]:
        """That of its turn."""
        return self.arm, self.round, self.warm_up


def draw_turns(arms: Iterable[ArmName], *, rounds: int, warm_up: int, seed: int) -> list[Turn]:
    """All turns, the warm-up's rounds first.

    A round has every arm once, in an order drawn by lot; so has a turn the patterns, because the
    first one meets the job's first maps. The same seed draws the same.
    """
    numbered = [(number, True) for number in range(1, warm_up + 1)]
    numbered += [(number, False) for number in range(1, rounds + 1)]
    orders = draw(list(arms), rounds=len(numbered), seed=seed)
    lots = random.Random(seed)  # noqa: S311 (an order, not a secret)
    return [
        Turn(arm, number, is_warm_up, tuple(lots.sample(PATTERN_NAMES, len(PATTERN_NAMES))))
        for (number, is_warm_up), order in zip(numbered, orders, strict=True)
        for arm in order
    ]


def missing(turns: Iterable[Turn], played: Iterable[Played]) -> list[Turn]:
    """The turns that were not played, in their order."""
    done = {each.key for each in played}
    return [turn for turn in turns if turn.key not in done]
