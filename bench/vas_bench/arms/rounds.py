"""One job in several arms, in turns: each round runs every arm once, in an order drawn by lot."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Protocol, TypeVar

from vas_bench.statistics.ratio import Ratio, ratio
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.systems import Arm

_MILLISECONDS = 1000
Drawn = TypeVar("Drawn")


def _written(job: JobResult) -> int:
    """Bytes of map output written: to local disks by any task, to Lustre by maps."""
    return job.counter("FILE_BYTES_WRITTEN") + job.map_counter("LUSTRE_BYTES_WRITTEN")


def _read(job: JobResult) -> int:
    """Bytes of map output read back: by tasks from local disks and by reducers from Lustre.

    And by NodeManagers, which read once what they serve; no counter has that but its receiver's.
    """
    by_reducers = job.counter("LUSTRE_BYTES_READ") - job.map_counter("LUSTRE_BYTES_READ")
    return job.counter("FILE_BYTES_READ") + by_reducers + _fetched(job)


def _fetched(job: JobResult) -> int:
    """Bytes that reducers got by HTTP. VAS's say the same number, of what they read in place."""
    return 0 if job.counter("MOFS_OPENED") else job.counter("REDUCE_SHUFFLE_BYTES")


# What an arm's run is judged by: name, unit, and where it comes from.
MEASURES: dict[str, Callable[[JobResult], float]] = {
    "job_seconds": lambda job: job.seconds,
    "client_seconds": lambda job: job.client_seconds,
    "cpu_seconds": lambda job: job.cpu_seconds,
    "task_cpu_seconds": lambda job: job.counter("CPU_MILLISECONDS") / _MILLISECONDS,
    "data_local_maps": lambda job: job.data_local_maps,
    "spilled_records": lambda job: job.counter("SPILLED_RECORDS"),
    "reduce_spilled_records": lambda job: (
        job.counter("SPILLED_RECORDS") - job.map_counter("SPILLED_RECORDS")
    ),
    "map_output_bytes": lambda job: job.counter("MAP_OUTPUT_BYTES"),
    "written_bytes": _written,
    "stored_bytes": lambda job: _written(job) + _read(job),
    # And those by HTTP, which a NodeManager sends and a reducer receives.
    "moved_bytes": lambda job: _written(job) + _read(job) + 2 * _fetched(job),
}


class Compared(Protocol):
    """A job that arms run on one data set."""

    def run(self, arm: Arm) -> JobResult:
        """Runs it in one way. Raises VasError when it fails."""

    def validate(self, arm: Arm) -> str:
        """The checksum of what `run` wrote, which is removed. Raises VasError if it is wrong."""


@dataclass(frozen=True)
class Sample:
    """One run of one arm: round, place in the round, and its measures. Its output was right."""

    arm: str
    round: int
    position: int
    total_maps: int
    checksum: str
    measures: dict[str, float]


def run_seconds(gib: float) -> float:
    """How long a run on so much input takes, and its validation, on two quiet cores."""
    return 30 + 45 * gib


def draw(arms: Sequence[Drawn], *, rounds: int, seed: int) -> list[list[Drawn]]:
    """The order of the arms in each round."""
    lots = random.Random(seed)  # noqa: S311 (an order, not a secret)
    return [lots.sample(list(arms), len(arms)) for _ in range(rounds)]


def sample(job: Compared, arm: Arm, number: int, position: int) -> Sample:
    """Runs and validates. Raises VasError for a run that fails or whose output is not right."""
    result = job.run(arm)
    checksum = job.validate(arm)
    measures = {name: measure(result) for name, measure in MEASURES.items()}
    return Sample(arm.name, number, position, result.total_maps, checksum, measures)


def run_rounds(
    job: Compared, arms: Sequence[Arm], *, rounds: int, seed: int, say: Callable[[str], None]
) -> Iterator[Sample]:
    """Every round in turn. Raises VasError as `sample` does."""
    for number, order in enumerate(draw(arms, rounds=rounds, seed=seed)):
        for position, arm in enumerate(order):
            say(f"round {number + 1} of {rounds}: {arm.name}")
            yield sample(job, arm, number, position)


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
