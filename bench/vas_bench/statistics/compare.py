"""Compares arms with a base, and puts each comparison in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vas_bench.statistics.bootstrap import ALPHA
from vas_bench.statistics.chance import (
    holm,
    mean_test,
    runs_needed,
    smallest_adjusted,
    smallest_p,
)
from vas_bench.statistics.gain import BetterDirection, Gain, changed, gain
from vas_bench.statistics.ratio import MedianRatio, ratio


@dataclass(frozen=True)
class SamplePair:
    """Two arms' samples of `what`; where paired, the n-th of each are of one round."""

    arm: str
    base: str
    samples: Sequence[float]
    base_samples: Sequence[float]
    better: BetterDirection = BetterDirection.LOWER
    what: str = "time"
    paired: bool = False


@dataclass(frozen=True)
class ArmDifference:
    """A pair's ratio, arm / base, and how sure it is among all that were judged with it.

    `p` is the rank test's after Holm's correction, `smallest_p` the least it could have been with
    so few runs, `mean_p` that of Welch's t test (paired: Student's), uncorrected, None where no
    variance can be had. `enough_runs` of each arm could make it significant.
    """

    pair: SamplePair
    ratio: MedianRatio
    p: float
    smallest_p: float
    mean_p: float | None
    enough_runs: int

    @property
    def significant(self) -> bool:
        """Tells whether the difference is significant, at 5 % for all that were judged together."""
        return self.p < ALPHA

    @property
    def improved(self) -> bool | None:
        """Tells whether the arm is better than the base; None if that may be chance."""
        lower = self.ratio.value < 1
        return (lower == (self.pair.better is BetterDirection.LOWER)) if self.significant else None

    @property
    def gain(self) -> Gain | None:
        """The ratio of times or throughputs as a gain; None of anything else, or of zero."""
        timed = self.pair.what == _TIMED[self.pair.better] and self.ratio.low > 0
        return gain(self.ratio, self.pair.base, self.pair.better) if timed else None

    @property
    def verdict(self) -> str:
        """The verdict, like `better: 29.0 % less time than BASE (...), ... (n=5, p=0.008)`."""
        if self.improved is not None:
            return f"{'better' if self.improved else 'worse'}: {self._change} ({self._evidence})"
        if self.smallest_p >= ALPHA:
            return (
                f"not significant: n={self._runs} never is (p is {self.smallest_p:.2g} at best); "
                f"run {self.enough_runs} of each"
            )
        return f"not significant ({self._evidence})"

    def as_json(self) -> dict[str, Any]:
        """Returns the difference as commands print it with `--json`."""
        return {
            "arm": self.pair.arm,
            "ratio": self.ratio.value,
            "interval": self.ratio.interval,
            "p": self.p,
            "p_uncorrected": self.ratio.p,
            "smallest_p": self.smallest_p,
            "mean_p": self.mean_p,
            "significant": self.significant,
            "gain": asdict(self.gain) if self.gain else None,
            "verdict": self.verdict,
        }

    @property
    def _change(self) -> str:
        if self.gain:
            return self.gain.in_words
        ends = (self.ratio.low - 1, self.ratio.high - 1)
        return changed(self.ratio.value - 1, ends, self.pair.what, self.pair.base)

    @property
    def _evidence(self) -> str:
        text = f"n={self._runs}, p={self.p:.2g}"
        disagrees = self.mean_p is not None and (self.mean_p < ALPHA) != self.significant
        return f"{text}; of means p={self.mean_p:.2g}" if disagrees else text

    @property
    def _runs(self) -> str:
        ours, theirs = len(self.pair.samples), len(self.pair.base_samples)
        return f"{ours}" if ours == theirs else f"{ours} against {theirs}"


_TIMED = {BetterDirection.LOWER: "time", BetterDirection.HIGHER: "throughput"}


def compare(
    arms: Mapping[str, Sequence[float]],
    base: str,
    better: BetterDirection,
    *,
    what: str | None = None,
    paired: bool = False,
) -> list[ArmDifference]:
    """Compares every other arm with the base, in the order given.

    Raises BadInput for samples that cannot be compared.
    """
    named = what or _TIMED[better]
    others = [name for name in arms if name != base]
    return judge([SamplePair(n, base, arms[n], arms[base], better, named, paired) for n in others])


def judge(pairs: Sequence[SamplePair]) -> list[ArmDifference]:
    """Judges pairs together, corrected for their number (Holm). Raises BadInput as `ratio`."""
    ratios = [ratio(it.samples, it.base_samples, paired=it.paired) for it in pairs]
    least = smallest_adjusted(
        [smallest_p(len(it.samples), len(it.base_samples), paired=it.paired) for it in pairs]
    )
    judged = zip(pairs, ratios, holm([it.p for it in ratios]), least, strict=True)
    return [
        ArmDifference(
            pair=pair,
            ratio=found,
            p=p,
            smallest_p=smallest,
            mean_p=mean_test(pair.samples, pair.base_samples, paired=pair.paired),
            enough_runs=runs_needed(len(pairs), paired=pair.paired),
        )
        for pair, found, p, smallest in judged
    ]
