"""The arms of an experiment, and the questions that its runs answer. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from vas_bench.pinning.statistics import Arms, PinningAnswer, contrast, corrected, spread
from vas_bench.results.systems import Pinning

FEWEST_RUNS = 3
"""Fewest runs of an arm: two are equally far from their median, which hides the spread."""


@dataclass(frozen=True)
class PinningArm:
    """The two settings of a run."""

    tuned: bool
    pinned: bool

    @property
    def name(self) -> Pinning:
        """The arm as results name it, such as `untuned, pinned`."""
        if self.tuned:
            return "tuned, pinned" if self.pinned else "tuned, unpinned"
        return "untuned, pinned" if self.pinned else "untuned, unpinned"


BASE = PinningArm(tuned=False, pinned=False)


def arms(*, tuning: bool) -> list[PinningArm]:
    """Returns all four arms, or two where the machine lacks the tuning."""
    return [
        PinningArm(t, p) for t in ((False, True) if tuning else (False,)) for p in (False, True)
    ]


def questions(values: Arms) -> list[PinningAnswer]:
    """Returns the tests, corrected for their number; none with fewer than three runs of an arm."""
    if any(len(arm) < FEWEST_RUNS for arm in values.values()):
        return []
    base = sum(values[BASE.name]) / len(values[BASE.name])
    asked = _pinning(values, base, tuned=False)
    if PinningArm(True, False).name in values:
        asked += [*_pinning(values, base, tuned=True), *_tuning(values, base)]
    return corrected(asked)


def _pinning(values: Arms, base: float, *, tuned: bool) -> list[PinningAnswer]:
    free, pinned = PinningArm(tuned, False).name, PinningArm(tuned, True).name
    where = "tuned" if tuned else "untuned"
    return [
        contrast(f"mean: pinning, {where}", values, {pinned: 1, free: -1}, base),
        spread(f"variance: pinning, {where}", values[free], values[pinned]),
    ]


def _tuning(values: Arms, base: float) -> list[PinningAnswer]:
    free, pinned = BASE.name, PinningArm(False, True).name
    tuned, both = PinningArm(True, False).name, PinningArm(True, True).name
    crossed: dict[str, float] = {both: 1, tuned: -1, pinned: -1, free: 1}
    return [
        contrast("mean: tuning, unpinned", values, {tuned: 1, free: -1}, base),
        spread("variance: tuning, unpinned", values[free], values[tuned]),
        contrast("mean: both together", values, {both: 1, free: -1}, base),
        contrast("interaction: does pinning gain more when tuned", values, crossed, base),
    ]
