"""Judges the runs: each arm's bandwidth over that of `alone`, the guest's over the host's. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from vas_bench.interference.rounds import as_json as run_as_json
from vas_bench.interference.rounds import job_seconds_of, rate_of
from vas_bench.interference.scope import ALONE, EMULATED, PATTERN_NAMES, ArmName, paper
from vas_bench.results.record import BenchRun
from vas_bench.statistics.compare import ArmDifference, SamplePair, judge
from vas_bench.statistics.gain import BetterDirection

COLUMNS = ("PATTERN", "ARM", "N", "MIB/S", "CHANGE", "95 % INTERVAL", "PAPER", "VERDICT")
LOAD_COLUMNS = ("ARM", "N", "JOBS", "JOB SECONDS", "CHANGE", "95 % INTERVAL", "VERDICT")
_MIB = 1 << 20
_AGAINST: tuple[tuple[ArmName, ArmName], ...] = (
    ("host", ALONE),
    ("guest", ALONE),
    ("guest", "host"),
    (EMULATED, ALONE),
)
_ORDER: tuple[ArmName, ...] = ("host", "guest", EMULATED)
_ANOTHER_SPEED = "not compared: another processor ran them"


@dataclass(frozen=True)
class InterferenceVerdict:
    """The runs that count, and their comparisons, which share one correction (Holm).

    `patterns`: pattern, arm and base of a difference in throughput; `load` is the difference in
    the time of jobs, guest over host, where both are.
    """

    runs: tuple[BenchRun, ...]
    patterns: tuple[tuple[str, ArmDifference], ...]
    load: ArmDifference | None

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yields rows for people: each pattern alone, others over it, the guest over the host."""
        for pattern in PATTERN_NAMES:
            alone = rates_of(self.runs, pattern, ALONE)
            yield (pattern, ALONE, len(alone), f"{median(alone) / _MIB:.1f}", *[""] * 4)
            for name, it in self.patterns:
                if name == pattern:
                    yield self._row(name, it)

    def _row(self, pattern: str, it: ArmDifference) -> tuple[object, ...]:
        over_alone = it.pair.base == ALONE
        arm = it.pair.arm if over_alone else f"{it.pair.arm} over {it.pair.base}"
        rate = f"{median(it.pair.samples) / _MIB:.1f}"
        said = paper(pattern, it.pair.arm) if over_alone else ""
        return (pattern, arm, len(it.pair.samples), rate, *_change(it), said, it.verdict)

    def load_rows(self) -> Iterator[tuple[object, ...]]:
        """Yields rows for people: the jobs that ran next to the clients."""
        for arm in _ORDER:
            of_arm = [run for run in self.runs if run.system == arm]
            if of_arm:
                jobs = sum(len(job_seconds_of(run)) for run in of_arm)
                seconds = f"{median(_times(of_arm, arm)):.1f}"
                yield (arm, len(of_arm), jobs, seconds, *self._judged(arm))

    def _judged(self, arm: ArmName) -> tuple[str, str, str]:
        if arm == EMULATED:
            return "", "", _ANOTHER_SPEED
        if arm == "guest" and self.load:
            return (*_change(self.load), self.load.verdict)
        return "", "", ""

    def as_json(self) -> dict[str, Any]:
        """Returns what `vas bench interference --json` prints."""
        return {
            "turns": [run_as_json(run) for run in self.runs],
            "comparisons": [
                {"pattern": name, "paper": _paper(name, it), **_as_json(it)}
                for name, it in self.patterns
            ],
            "jobs": _as_json(self.load) if self.load else None,
        }


def verdict(played: Sequence[BenchRun]) -> InterferenceVerdict:
    """Judges runs; those of the warm-up and INVALID ones are left out."""
    runs = tuple(sorted((r for r in played if r.counts), key=lambda r: (r.round or 0, r.system)))
    here = {run.system for run in runs}
    against = [arms for arms in _AGAINST if here.issuperset(arms)]
    named = [(pattern, *arms) for pattern in PATTERN_NAMES for arms in against]
    pairs = [
        SamplePair(
            arm,
            base,
            rates_of(runs, pattern, arm),
            rates_of(runs, pattern, base),
            BetterDirection.HIGHER,
            "throughput",
        )
        for pattern, arm, base in named
    ]
    jobs = []
    if ("guest", "host") in against:
        jobs = [SamplePair("guest", "host", _times(runs, "guest"), _times(runs, "host"))]
    judged = judge([*pairs, *jobs])
    names = [pattern for pattern, _, _ in named]
    load = judged[len(pairs)] if jobs else None
    return InterferenceVerdict(runs, tuple(zip(names, judged, strict=False)), load)


def rates_of(runs: Sequence[BenchRun], pattern: str, arm: str) -> list[float]:
    """Returns an arm's bytes a second with a pattern, in order of runs."""
    return [rate_of(run, pattern) for run in runs if run.system == arm]


def _times(runs: Sequence[BenchRun], arm: str) -> list[float]:
    """Returns one sample for each round: the median of its jobs."""
    return [median(job_seconds_of(run)) for run in runs if run.system == arm]


def _change(it: ArmDifference) -> tuple[str, str]:
    low, high = (f"{100 * (end - 1):+.1f}" for end in (it.ratio.low, it.ratio.high))
    return f"{100 * (it.ratio.value - 1):+.1f} %", f"{low} to {high}"


def _paper(pattern: str, it: ArmDifference) -> str | None:
    return paper(pattern, it.pair.arm) if it.pair.base == ALONE else None


def _as_json(it: ArmDifference) -> dict[str, Any]:
    return {
        "arm": it.pair.arm,
        "base": it.pair.base,
        "n": it.ratio.n,
        "median": median(it.pair.samples),
        "base_median": median(it.pair.base_samples),
        "ratio": it.ratio.value,
        "interval": (it.ratio.low, it.ratio.high),
        "p": it.p,
        "significant": it.significant,
        "verdict": it.verdict,
    }
