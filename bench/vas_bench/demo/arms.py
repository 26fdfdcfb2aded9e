"""Runs the main job once in each arm on the same data, for `./vas demo`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from vas_bench.run.measures import containers_started
from vas_core.progress import Step, Steps
from vas_lab.disk import check_disk, free_bytes, used_bytes
from vas_lab.lab import Lab
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.systems import ARMS, BASE, NODE_ARMS, Arm
from vas_yarn.jobs.terasort import TeraSort, TeraSortSizes
from vas_yarn.small_cluster import AM_HEAP
from vas_yarn.submit.master import MASTER

_INPUT_BYTES = "BYTES_READ"
_LOCAL_BYTES = "LUSTRE-LOCAL_BYTES_READ"
_DIRECTORY = "/demo"
_LAST = ARMS[-1]
# Placement's own default (vas.placement.node-wait): the demo's maps are short, its host is busy,
# and what a map elsewhere would gain is not what the demo shows.
_WAIT_FOR_HOST = "20s"
DEMO_ARMS = (
    *ARMS[:-1],
    replace(
        _LAST,
        explanation=f"{_LAST.explanation}; a container runs one task after another",
        properties={
            **_LAST.properties,
            "yarn.app.mapreduce.am.command-opts": f"{AM_HEAP} {MASTER}",
            "vas.containers.reuse.locality-delay": _WAIT_FOR_HOST,
        },
    ),
)
"""The arms that the demo runs: the last one with warm containers."""
MORE_ARMS = {"jbs": NODE_ARMS[:2]}
"""Arms that are added on demand, by the word that asks for them. Their nodes run vas-shuffled."""
# At an arm's end: the input, the maps' output, what the reducers fetched of it, the output.
COPIES = 4


def what_it_shows(data_local: str, local_bytes: str) -> str:
    """Returns what the demo's numbers show, and what they do not.

    `data_local` and `local_bytes` are the names that the reader sees for two of the measures.
    """
    return (
        f"{data_local} and {local_bytes} show the placement; its worth in time does not show here: "
        "all OSTs lie on one local disk, so a remote read costs no more than a local one. The "
        "shuffle's does, but one run proves nothing: `vas bench arms`."
    )


WHAT_IT_SHOWS = what_it_shows("DATA-LOCAL", "FROM LOCAL OST")


@dataclass(frozen=True)
class Done:
    """One arm's sort, when it started, and TeraValidate's checksum of what it wrote."""

    arm: Arm
    job: JobResult
    checksum: str
    started: datetime


@dataclass(frozen=True)
class ArmResult:
    """The result of one arm. Bytes and maps are TeraSort's; the checksum is TeraValidate's.

    `job_ratio` is its job time by that of the arm `BASE`, once that one has run. `vas demo --json`
    prints these names.
    """

    name: str
    data_local_maps: int
    rack_local_maps: int
    other_maps: int
    total_maps: int
    local_input_bytes: int
    input_bytes: int
    job_seconds: float
    cpu_seconds: float
    checksum: str
    containers_started: int
    job_ratio: float | None = None

    @classmethod
    def of(cls, done: Done) -> ArmResult:
        """Returns the result of an arm's sort, in the demo's words."""
        job = done.job
        return cls(
            name=done.arm.name,
            data_local_maps=job.data_local_maps,
            rack_local_maps=job.rack_local_maps,
            other_maps=job.other_maps,
            total_maps=job.total_maps,
            local_input_bytes=job.map_counter(_LOCAL_BYTES),
            input_bytes=job.counter(_INPUT_BYTES),
            job_seconds=round(job.seconds, 3),
            cpu_seconds=round(job.cpu_seconds, 3),
            checksum=done.checksum,
            containers_started=containers_started(job),
        )


def check_room(size_bytes: int, state_dir: Path) -> None:
    """Raises BadInput when the arms' data do not fit on the disk of `state_dir`.

    Data of an earlier demo count as free: they are replaced.
    """
    old = (state_dir / f"lustre/data{_DIRECTORY}", state_dir / "nodes")
    free = free_bytes(state_dir) + sum(map(used_bytes, old))
    check_disk(free, size=size_bytes, copies=COPIES)


START = "start the lab"
GENERATE = "TeraGen"


def steps(arms: Sequence[Arm]) -> list[Step]:
    """Returns the demo's steps, with the seconds they took on two busy cores."""
    of_arms = [step for arm in arms for step in (Step(_sort(arm), 40), Step(_validate(arm), 15))]
    return [Step(START, 25), Step(GENERATE, 20), *of_arms]


def _sort(arm: Arm) -> str:
    return f"TeraSort, {arm.name}"


def _validate(arm: Arm) -> str:
    return f"TeraValidate, {arm.name}"


def run_arms(
    lab: Lab, sizes: TeraSortSizes, arms: Sequence[Arm], progress: Steps
) -> Iterator[Done]:
    """Makes the data, then runs each arm on it. Raises VasError when an output is not right."""
    job = TeraSort(lab, sizes, _DIRECTORY)
    with progress.step(GENERATE):
        job.generate()
    for arm in arms:
        started = datetime.now(UTC)
        with progress.step(_sort(arm)):
            sorted_ = job.run(arm)
        with progress.step(_validate(arm)):
            checksum = job.validate(arm)
        yield Done(arm, sorted_, checksum, started)


def with_ratios(results: Sequence[ArmResult]) -> list[ArmResult]:
    """Returns the arms, each with its job time against the base's."""
    base = next(result.job_seconds for result in results if result.name == BASE)
    return [replace(result, job_ratio=round(result.job_seconds / base, 2)) for result in results]
