"""The arms of an experiment, the order of its runs, and what is asked of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from vas_affinity.experiment.statistics import Answer, Arms, contrast, corrected, spread

FEWEST_RUNS = 3
"""Of an arm: two are always equally far from their median, which says nothing of the spread."""


@dataclass(frozen=True)
class Arm:
    """What is set in a run."""

    tuned: bool
    pinned: bool

    @property
    def name(self) -> str:
        """`untuned, pinned`."""
        return f"{'' if self.tuned else 'un'}tuned, {'' if self.pinned else 'un'}pinned"


BASE = Arm(tuned=False, pinned=False)


def arms(*, tuning: bool) -> list[Arm]:
    """All four, or the two without the factor that is not to be had."""
    return [Arm(t, p) for t in ((False, True) if tuning else (False,)) for p in (False, True)]


def order(all_arms: Sequence[Arm], runs: int, seed: int) -> list[Arm]:
    """Rounds that have each arm once, each in an order of its own: what drifts meets all alike."""
    dice = random.Random(seed)  # noqa: S311
    return [arm for _ in range(runs) for arm in dice.sample(all_arms, len(all_arms))]


def questions(values: Arms) -> list[Answer]:
    """The tests, corrected for their number. Needs three runs or more of each arm."""
    if any(len(arm) < FEWEST_RUNS for arm in values.values()):
        return []
    base = sum(values[BASE.name]) / len(values[BASE.name])
    asked = _pinning(values, base, tuned=False)
    if Arm(True, False).name in values:
        asked += [*_pinning(values, base, tuned=True), *_tuning(values, base)]
    return corrected(asked)


def _pinning(values: Arms, base: float, *, tuned: bool) -> list[Answer]:
    free, pinned = Arm(tuned, False).name, Arm(tuned, True).name
    where = "tuned" if tuned else "untuned"
    return [
        contrast(f"mean: pinning, {where}", values, {pinned: 1, free: -1}, base),
        spread(f"variance: pinning, {where}", values[free], values[pinned]),
    ]


def _tuning(values: Arms, base: float) -> list[Answer]:
    free, pinned = BASE.name, Arm(False, True).name
    tuned, both = Arm(True, False).name, Arm(True, True).name
    crossed = {both: 1, tuned: -1, pinned: -1, free: 1}
    return [
        contrast("mean: tuning, unpinned", values, {tuned: 1, free: -1}, base),
        spread("variance: tuning, unpinned", values[free], values[tuned]),
        contrast("mean: both together", values, {both: 1, free: -1}, base),
        contrast("interaction: does pinning gain more when tuned", values, crossed, base),
    ]
