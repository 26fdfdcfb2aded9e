"""Runs an experiment: sets each run's arm, and measures what else the machine did."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from vas_affinity.experiment import tuning
from vas_affinity.experiment.design import ExperimentArm, questions
from vas_affinity.experiment.statistics import ArmSummary, HypothesisTest, summarize
from vas_affinity.experiment.workload import ExperimentWorkload
from vas_core.root import Root

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_IDLE_FIELDS = (3, 4)  # of /proc/stat's first line: idle, iowait
_STEAL_FIELD = 7


@dataclass(frozen=True)
class ExperimentRun:
    """One run of an arm. `others_cpus` is what all other processes used meanwhile, in CPUs.

    `stolen_cpus` is what a hypervisor gave to other machines.
    """

    arm: ExperimentArm
    value: float
    seconds: float
    others_cpus: float
    stolen_cpus: float


@dataclass(frozen=True)
class ExperimentResult:
    """The runs of an experiment, and the conditions under which they ran."""

    workload: str
    metric: str
    tuning: str
    seed: int
    cpus: int
    kernel: str
    runs: tuple[ExperimentRun, ...]

    @property
    def values(self) -> dict[str, list[float]]:
        """Returns arm -> values of its runs, in order of the arms."""
        found: dict[ExperimentArm, list[float]] = {}
        for run in self.runs:
            found.setdefault(run.arm, []).append(run.value)
        ordered = sorted(found, key=lambda arm: (arm.tuned, arm.pinned))
        return {arm.name: found[arm] for arm in ordered}

    def summaries(self) -> dict[str, ArmSummary]:
        """Returns arm -> summary of its runs."""
        return {name: summarize(values) for name, values in self.values.items()}

    def tests(self) -> list[HypothesisTest]:
        """Returns the hypothesis tests of the runs, corrected for their number."""
        return questions(self.values)

    @property
    def others_cpus(self) -> float:
        """Returns the CPUs that other processes used, the mean of all runs."""
        return sum(run.others_cpus for run in self.runs) / len(self.runs)

    def as_json(self, alpha: float) -> dict[str, Any]:
        """Returns runs, summaries, tests and conditions as plain data."""
        return {
            "workload": self.workload,
            "metric": self.metric,
            "tuned": self.tuning,
            "pinned_and_tuned_in": "seeded rounds, each arm once a round",
            "seed": self.seed,
            "cpus": self.cpus,
            "kernel": self.kernel,
            "others_cpus_mean": round(self.others_cpus, 3),
            "alpha": alpha,
            "arms": {name: vars(one) for name, one in self.summaries().items()},
            "tests": [{**vars(t), "significant": t.significant(alpha)} for t in self.tests()],
            "runs": [{**vars(run), "arm": run.arm.name} for run in self.runs],
        }


def conduct(
    root: Root,
    workload: ExperimentWorkload,
    plan: Sequence[ExperimentArm],
    told: Callable[[ExperimentRun], None],
) -> list[ExperimentRun]:
    """Runs the arms in that order; calls `told` after each run."""
    done = []
    for arm in plan:
        with tuning.tuned(root) if arm.tuned else nullcontext():
            done.append(_one(root, workload, arm))
        told(done[-1])
    return done


def machine() -> tuple[int, str]:
    """Returns the number of CPUs that this process may use, and the kernel's release."""
    return len(os.sched_getaffinity(0)), platform.release()


def _one(root: Root, workload: ExperimentWorkload, arm: ExperimentArm) -> ExperimentRun:
    busy, stolen = _cpu_seconds(root)
    own, started = _own_seconds(), time.monotonic()
    value = workload.run(arm)
    seconds = time.monotonic() - started
    busy_after, stolen_after = _cpu_seconds(root)
    others = busy_after - busy - (_own_seconds() - own)
    return ExperimentRun(
        arm,
        value,
        round(seconds, 3),
        round(max(0.0, others) / seconds, 3),
        round((stolen_after - stolen) / seconds, 3),
    )


def _cpu_seconds(root: Root) -> tuple[float, float]:
    """Returns the CPU seconds of the whole machine in use, and those a hypervisor kept."""
    line = (root.read("proc/stat") or "").splitlines()[0]
    ticks = [int(field) for field in line.split()[1:9]]
    stolen = ticks[_STEAL_FIELD]
    used = sum(ticks) - sum(ticks[n] for n in _IDLE_FIELDS) - stolen
    return used / _TICKS_PER_SECOND, stolen / _TICKS_PER_SECOND


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
