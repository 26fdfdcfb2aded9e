"""Runs an experiment: each run with what is set for its arm, and what else the machine did."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from vas_affinity.experiment import tuning
from vas_affinity.experiment.design import Arm, questions
from vas_affinity.experiment.statistics import Answer, Summary, summarize
from vas_affinity.experiment.workload import Workload
from vas_core.root import Root

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_IDLE_FIELDS = (3, 4)  # of /proc/stat's first line: idle, iowait
_STEAL_FIELD = 7


@dataclass(frozen=True)
class Run:
    """One run. `others_cpus` is what all other processes used meanwhile, in CPUs."""

    arm: Arm
    value: float
    seconds: float
    others_cpus: float
    stolen_cpus: float


@dataclass(frozen=True)
class Result:
    """An experiment that is done."""

    workload: str
    metric: str
    tuning: str
    seed: int
    cpus: int
    kernel: str
    runs: tuple[Run, ...]

    @property
    def values(self) -> dict[str, list[float]]:
        """Runs' values by arm, in order of the arms."""
        found: dict[Arm, list[float]] = {}
        for run in self.runs:
            found.setdefault(run.arm, []).append(run.value)
        ordered = sorted(found, key=lambda arm: (arm.tuned, arm.pinned))
        return {arm.name: found[arm] for arm in ordered}

    def summaries(self) -> dict[str, Summary]:
        """By arm."""
        return {name: summarize(values) for name, values in self.values.items()}

    def tests(self) -> list[Answer]:
        """What was asked of the runs."""
        return questions(self.values)

    @property
    def others_cpus(self) -> float:
        """What other processes used, mean of all runs."""
        return sum(run.others_cpus for run in self.runs) / len(self.runs)

    def as_json(self, alpha: float) -> dict[str, Any]:
        """All of it."""
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
    root: Root, workload: Workload, plan: Sequence[Arm], told: Callable[[Run], None]
) -> list[Run]:
    """Runs all, in that order."""
    done = []
    for arm in plan:
        with tuning.tuned(root) if arm.tuned else nullcontext():
            done.append(_one(root, workload, arm))
        told(done[-1])
    return done


def machine() -> tuple[int, str]:
    """CPUs that this process may use, and the kernel's release."""
    return len(os.sched_getaffinity(0)), platform.release()


def _one(root: Root, workload: Workload, arm: Arm) -> Run:
    busy, stolen = _cpu_seconds(root)
    own, started = _own_seconds(), time.monotonic()
    value = workload.run(arm)
    seconds = time.monotonic() - started
    busy_after, stolen_after = _cpu_seconds(root)
    others = busy_after - busy - (_own_seconds() - own)
    return Run(
        arm,
        value,
        round(seconds, 3),
        round(max(0.0, others) / seconds, 3),
        round((stolen_after - stolen) / seconds, 3),
    )


def _cpu_seconds(root: Root) -> tuple[float, float]:
    """CPU time of the whole machine that was used, and that the hypervisor kept to itself."""
    line = (root.read("proc/stat") or "").splitlines()[0]
    ticks = [int(field) for field in line.split()[1:9]]
    stolen = ticks[_STEAL_FIELD]
    used = sum(ticks) - sum(ticks[n] for n in _IDLE_FIELDS) - stolen
    return used / _TICKS_PER_SECOND, stolen / _TICKS_PER_SECOND


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
