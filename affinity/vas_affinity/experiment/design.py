"""The design of an experiment: its arms, the order of its runs, and its hypothesis tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from vas_affinity.experiment.statistics import Arms, HypothesisTest, contrast, corrected, spread

FEWEST_RUNS = 3
"""Runs per arm: two are always equally far from their median, which tells no spread."""


@dataclass(frozen=True)
class ExperimentArm:
    """An arm of the experiment: whether the OS is tuned, and whether threads are pinned."""

    tuned: bool
    pinned: bool

    @property
    def name(self) -> str:
        """Returns the arm's name, like `untuned, pinned`."""
        return f"{'' if self.tuned else 'un'}tuned, {'' if self.pinned else 'un'}pinned"


BASE = ExperimentArm(tuned=False, pinned=False)


def arms(*, tuning: bool) -> list[ExperimentArm]:
    """Returns all four arms, or the two untuned ones if `tuning` is not available."""
    return [
        ExperimentArm(t, p) for t in ((False, True) if tuning else (False,)) for p in (False, True)
    ]


def order(all_arms: Sequence[ExperimentArm], runs: int, seed: int) -> list[ExperimentArm]:
    """Returns `runs` rounds of all arms, each in its own random order: drift meets all equally."""
    dice = random.Random(seed)  # noqa: S311
    return [arm for _ in range(runs) for arm in dice.sample(all_arms, len(all_arms))]


def questions(values: Arms) -> list[HypothesisTest]:
    """Returns the tests, corrected for their number; none with fewer than three runs per arm."""
    if any(len(arm) < FEWEST_RUNS for arm in values.values()):
        return []
    base = sum(values[BASE.name]) / len(values[BASE.name])
    asked = _pinning(values, base, tuned=False)
    if ExperimentArm(True, False).name in values:
        asked += [*_pinning(values, base, tuned=True), *_tuning(values, base)]
    return corrected(asked)


def _pinning(values: Arms, base: float, *, tuned: bool) -> list[HypothesisTest]:
    free, pinned = ExperimentArm(tuned, False).name, ExperimentArm(tuned, True).name
    where = "tuned" if tuned else "untuned"
    return [
        contrast(f"mean: pinning, {where}", values, {pinned: 1, free: -1}, base),
        spread(f"variance: pinning, {where}", values[free], values[pinned]),
    ]


def _tuning(values: Arms, base: float) -> list[HypothesisTest]:
    free, pinned = BASE.name, ExperimentArm(False, True).name
    tuned, both = ExperimentArm(True, False).name, ExperimentArm(True, True).name
    crossed = {both: 1, tuned: -1, pinned: -1, free: 1}
    return [
        contrast("mean: tuning, unpinned", values, {tuned: 1, free: -1}, base),
        spread("variance: tuning, unpinned", values[free], values[tuned]),
        contrast("mean: both together", values, {both: 1, free: -1}, base),
        contrast("interaction: does pinning gain more when tuned", values, crossed, base),
    ]
