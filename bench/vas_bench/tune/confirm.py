"""Judges the runs of the last stage. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vas_bench.statistics.compare import ArmDifference, compare
from vas_bench.statistics.gain import BetterDirection
from vas_bench.tune.space import BASELINE


@dataclass(frozen=True)
class TuneVerdict:
    """The comparisons of every finalist with the baseline, with Holm's correction."""

    differences: tuple[ArmDifference, ...]

    @property
    def recommended(self) -> ArmDifference | None:
        """The fastest of the finalists that are significantly better; None if none is."""
        better = [each for each in self.differences if each.improved]
        return min(better, key=lambda each: each.ratio.value, default=None)

    @property
    def in_words(self) -> str:
        """The recommendation and its reason, or that nothing is recommended."""
        found = self.recommended
        if found is None:
            return "no change is recommended: none is significantly better than the baseline"
        others = [each.pair.arm for each in self.differences if each.improved and each is not found]
        said = f"recommended: {found.pair.arm}: {found.verdict}"
        return (
            f"{said}; also better: {'; '.join(others)} (not compared with it)" if others else said
        )


def judged(samples: Mapping[str, Sequence[float]]) -> TuneVerdict:
    """Judges times by finalist, and the baseline's; the n-th of each are of one round.

    Raises BadInput where the baseline has no run. Without finalists nothing is recommended.
    """
    if len(samples) < 2:
        return TuneVerdict(())
    return TuneVerdict(tuple(compare(samples, BASELINE, BetterDirection.LOWER, paired=True)))
