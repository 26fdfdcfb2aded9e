"""One job in several arms, in turns: each round runs every arm once, in an order drawn by lot."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from vas_bench.samples import Ratio, ratio
from vas_lab.arms import Arm
from vas_lab.job import JobResult
from vas_lab.terasort import TeraSort

_MILLISECONDS = 1000
# What an arm's run is judged by: name, unit, and where it comes from.
MEASURES: dict[str, Callable[[JobResult], float]] = {
    "job_seconds": lambda job: job.seconds,
    "cpu_seconds": lambda job: job.cpu_seconds,
    "task_cpu_seconds": lambda job: job.counter("CPU_MILLISECONDS") / _MILLISECONDS,
    "data_local_maps": lambda job: job.data_local_maps,
    "spilled_records": lambda job: job.counter("SPILLED_RECORDS"),
}


@dataclass(frozen=True)
class Sample:
    """One run of one arm: round, place in the round, and its measures. Its output was right."""

    arm: str
    round: int
    position: int
    total_maps: int
    checksum: str
    measures: dict[str, float]


def run_rounds(
    job: TeraSort, arms: Sequence[Arm], *, rounds: int, seed: int, say: Callable[[str], None]
) -> Iterator[Sample]:
    """Runs and validates. Raises VasError for a run that fails or whose output is not right."""
    lots = random.Random(seed)  # noqa: S311 (an order, not a secret)
    for number in range(rounds):
        order = lots.sample(list(arms), len(arms))
        for position, arm in enumerate(order):
            say(f"round {number + 1} of {rounds}: {arm.name}")
            result = job.sort(arm)
            checksum = job.validate(arm)
            measures = {name: measure(result) for name, measure in MEASURES.items()}
            yield Sample(arm.name, number, position, result.total_maps, checksum, measures)


@dataclass(frozen=True)
class Comparison:
    """All samples, and each arm against the base."""

    samples: tuple[Sample, ...]
    base: str

    def of(self, arm: str, measure: str) -> list[float]:
        """An arm's samples of a measure, in order of rounds."""
        return [s.measures[measure] for s in self.samples if s.arm == arm]

    @property
    def arms(self) -> list[str]:
        """The arms' names; the base is one of them."""
        return sorted({s.arm for s in self.samples}, key=lambda name: (name != self.base, name))

    def ratio(self, arm: str, measure: str) -> Ratio:
        """An arm against the base: below 1 is less time, or less CPU."""
        return ratio(self.of(arm, measure), self.of(self.base, measure))

    def as_json(self) -> dict[str, Any]:
        """As `vas bench arms --json` prints it."""
        times = ("job_seconds", "cpu_seconds", "task_cpu_seconds")
        others = [arm for arm in self.arms if arm != self.base]
        return {
            "base": self.base,
            "samples": [asdict(sample) for sample in self.samples],
            "ratios": [
                {"arm": arm, "measure": m, **asdict(self.ratio(arm, m))}
                for arm in others
                for m in times
            ],
        }

    def rows(self) -> Iterator[tuple[object, ...]]:
        """For people: an arm, its runs, its medians, and its job and CPU time against the base."""
        for arm in self.arms:
            maps = sum(s.total_maps for s in self.samples if s.arm == arm)
            local = int(sum(self.of(arm, "data_local_maps")))
            medians = (median(self.of(arm, m)) for m in ("job_seconds", "cpu_seconds"))
            against = ("base", "") if arm == self.base else self._against(arm)
            yield (arm, f"{local} of {maps}", *(f"{m:.1f}" for m in medians), *against)

    def _against(self, arm: str) -> tuple[str, str]:
        job, cpu = (self.ratio(arm, m).in_words for m in ("job_seconds", "cpu_seconds"))
        return job, cpu
