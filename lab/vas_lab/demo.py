"""What `./vas demo` runs: the main job, in each arm once on the same data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vas_core.progress import Step, Steps
from vas_lab.arms import ARMS, Arm
from vas_lab.disk import check_disk, free_bytes, used_bytes
from vas_lab.lab import Lab
from vas_lab.terasort import ArmResult, Sizes, TeraSort, arm_result

_DIRECTORY = "/demo"
# At an arm's end: the input, the maps' output, what the reducers fetched of it, the output.
COPIES = 4
WHAT_IT_SHOWS = (
    "DATA-LOCAL and FROM LOCAL OST show the placement; its worth in time does not show here: all "
    "OSTs lie on one local disk, so a remote read costs no more than a local one. The shuffle's "
    "does, but one run proves nothing: `vas bench arms`."
)


def check_room(size_bytes: int, state_dir: Path) -> None:
    """Raises BadInput when the arms do not fit on the disk; what they replace counts as free."""
    old = (state_dir / f"lustre/data{_DIRECTORY}", state_dir / "nodes")
    free = free_bytes(state_dir) + sum(map(used_bytes, old))
    check_disk(free, size=size_bytes, copies=COPIES)


START = "start the lab"
GENERATE = "TeraGen"


def steps() -> list[Step]:
    """The steps of the demo, with the seconds they took on two busy cores."""
    arms = [step for arm in ARMS for step in (Step(_sort(arm), 40), Step(_validate(arm), 15))]
    return [Step(START, 25), Step(GENERATE, 20), *arms]


def _sort(arm: Arm) -> str:
    return f"TeraSort, {arm.name}"


def _validate(arm: Arm) -> str:
    return f"TeraValidate, {arm.name}"


def run_arms(lab: Lab, sizes: Sizes, progress: Steps) -> Iterator[ArmResult]:
    """Makes the data, then runs each arm on it. Raises VasError when an output is not right."""
    job = TeraSort(lab, sizes, _DIRECTORY)
    with progress.step(GENERATE):
        job.generate()
    for arm in ARMS:
        with progress.step(_sort(arm)):
            sorted_ = job.run(arm)
        with progress.step(_validate(arm)):
            checksum = job.validate(arm)
        yield arm_result(arm, sorted_, checksum)
