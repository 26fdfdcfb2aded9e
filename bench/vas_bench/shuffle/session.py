"""The runs behind the table: one lab, one data set a job, arms in turns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vas_bench.arms.rounds import Sample, draw, run_seconds, sample
from vas_bench.shuffle.counted import LAYOUTS
from vas_bench.shuffle.goals import STOCK, TEZ, VAS
from vas_bench.shuffle.jobs import DIRECTORY, JOBS, Data
from vas_bench.shuffle.rows import SampledRun
from vas_bench.shuffle.tez import tez_arm, tez_version
from vas_core.errors import BadInput, VasError
from vas_core.files import write_atomically
from vas_core.progress import Step, Steps
from vas_lab.arms import Arm
from vas_lab.configuration import JVM
from vas_lab.lab import Lab
from vas_lab.trees import remove_tree
from vas_yarn.profiles import SHUFFLE

HOSTS = 4
_SORT_BUFFER = "mapreduce.task.io.sort.mb"
# Three containers to a guest, so that 8 maps, or 4 reducers, run at once beside the application
# master. Each arm has the sort buffer that is best for it (docs/bench-shuffle.md): stock's takes a
# 128 MiB split of TeraSort whole, 118 bytes a record, and it begins to spill at 80 % of it. VAS
# merges no runs in the map, and a smaller buffer is less memory to touch first.
PROPERTIES = {
    "yarn.nodemanager.resource.memory-mb": str(3 * 512),
    "yarn.app.mapreduce.am.resource.mb": "512",
    "mapreduce.map.memory.mb": "512",
    "mapreduce.map.java.opts": "-Xmx400m -Xmn24m",
    "mapreduce.reduce.memory.mb": "512",
    "mapreduce.reduce.java.opts": "-Xmx400m",
    _SORT_BUFFER: "200",
}
# The arms differ in the shuffle alone, so none has its tasks placed: Tez's are not.
_NOT_PLACED = "vas-placement-off"
_STOCK = Arm(STOCK, "stock MapReduce", {"mapreduce.job.tags": _NOT_PLACED})
_VAS = Arm(
    VAS,
    "VAS's shuffle",
    SHUFFLE
    | {
        "mapreduce.job.tags": f"{SHUFFLE['mapreduce.job.tags']},{_NOT_PLACED}",
        _SORT_BUFFER: "64",
    },
)


@dataclass(frozen=True)
class Plan:
    """What to run: jobs of `size_bytes`, each so many rounds; files of so many maps, if any.

    `build` tells the plugins that are measured from others.
    """

    size_bytes: int
    rounds: int
    seed: int
    jobs: tuple[str, ...]
    with_tez: bool
    file_maps: int = 0
    build: str = ""

    def arms(self, job: str) -> list[str]:
        """The arms that run a job."""
        return [STOCK, VAS, *([TEZ] if self.with_tez and JOBS[job].against_tez else [])]

    def steps(self) -> list[Step]:
        """What is to be done, with the seconds it takes on two quiet cores."""
        found = [Step(START, 25)] if self.jobs else []
        for job in self.jobs:
            gib = JOBS[job].size(self.size_bytes) / (1 << 30)
            found.append(Step(_generate(job), 10 + 25 * gib))
            for number in range(self.rounds):
                found += [Step(_step(job, number, arm), run_seconds(gib)) for arm in self.arms(job)]
        if self.file_maps:
            one_each = ((file_step(name), layout.seconds) for name, layout in LAYOUTS.items())
            found += [Step(name, self.file_maps * seconds) for name, seconds in one_each]
        return found

    def settings(self) -> dict[str, Any]:
        """All that runs must have in common to be compared, as it is kept beside them."""
        data = {"size_bytes": self.size_bytes, "seed": self.seed}
        return data | {
            "build": self.build,
            "tez": tez_version(),
            "jvm": list(JVM),
            "properties": PROPERTIES,
            "vas": _VAS.properties,
        }


START = "start the lab"


def file_step(layout: str) -> str:
    """The name of the step that counts files."""
    return f"files, {layout}"


def _generate(job: str) -> str:
    return f"{JOBS[job].title}: input"


def _step(job: str, number: int, arm: str) -> str:
    return f"{JOBS[job].title}, round {number + 1}: {arm}"


class Kept:
    """The runs so far, in a file if there is one; rounds that lack an arm run anew."""

    def __init__(self, plan: Plan, file: Path | None) -> None:
        self._plan, self._file = plan, file
        self.runs = self._whole_rounds(_load(file, plan)) if file and file.exists() else []

    def has(self, job: str, number: int) -> bool:
        """Whether every arm of a round has run."""
        return any(run.job == job and run.round == number for run in self.runs)

    def add(self, run: SampledRun) -> None:
        """Keeps it."""
        self.runs.append(run)
        if self._file:
            document = {"settings": self._plan.settings(), "runs": [asdict(r) for r in self.runs]}
            write_atomically(self._file, json.dumps(document, indent=1) + "\n")

    def _whole_rounds(self, runs: Sequence[SampledRun]) -> list[SampledRun]:
        def is_whole(run: SampledRun) -> bool:
            beside = {r.arm for r in runs if (r.job, r.round) == (run.job, run.round)}
            return run.job not in self._plan.jobs or beside.issuperset(self._plan.arms(run.job))

        return [run for run in runs if is_whole(run)]


def _load(file: Path, plan: Plan) -> list[SampledRun]:
    try:
        document = json.loads(file.read_text())
        settings, runs = document["settings"], [_run(each) for each in document["runs"]]
    except (ValueError, KeyError, TypeError) as wrong:
        raise BadInput(f"not runs of this command: {wrong!r}", where=str(file)) from wrong
    if settings != plan.settings():
        other = [key for key, value in plan.settings().items() if settings.get(key) != value]
        hint = "give the same options, or another file"
        raise BadInput(f"its runs had another {', '.join(other)}", where=str(file), hint=hint)
    return runs


def _run(kept: dict[str, Any]) -> SampledRun:
    found = kept.pop("sample")
    return SampledRun(**kept, sample=Sample(**found) if found else None)


def run_all(lab: Lab, plan: Plan, kept: Kept, jars: tuple[Path, ...], progress: Steps) -> None:
    """Runs what `kept` lacks of the plan, and adds it."""
    arms = {arm.name: arm for arm in (_STOCK, _VAS, *([tez_arm(lab, jars)] if jars else []))}
    for job in plan.jobs:
        missing = [number for number in range(plan.rounds) if not kept.has(job, number)]
        if not missing:
            continue
        data = JOBS[job].on(lab, plan.size_bytes)
        with progress.step(_generate(job)):
            remove_tree(lab, DIRECTORY)
            data.generate()
        orders = draw([arms[name] for name in plan.arms(job)], rounds=plan.rounds, seed=plan.seed)
        for number in missing:
            for run in play_round(job, data, number, orders[number], progress):
                # What a broken lab does says nothing of the arm.
                lab.refuse_broken()
                kept.add(run)


def play_round(
    job: str, data: Data, number: int, order: Sequence[Arm], progress: Steps
) -> Iterator[SampledRun]:
    """A run of each arm in this order. One that fails, or whose output is bad, says so."""
    for position, arm in enumerate(order):
        with progress.step(_step(job, number, arm.name)):
            try:
                found, wrong = sample(data, arm, number, position), ""
            except VasError as failed:
                found, wrong = None, str(failed)
                progress.say(f"{arm.name}: {wrong}")
        yield SampledRun(job, arm.name, number, found, wrong)
