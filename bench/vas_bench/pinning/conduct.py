"""Runs an arm once, and notes its value and what else the machine did meanwhile."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from vas_bench.engine.observe import Observation
from vas_bench.engine.rounds import ArmSubject, RunIdentity
from vas_bench.pinning import tuning
from vas_bench.pinning.design import PinningAnswer, PinningArm, arms, questions
from vas_bench.pinning.workload import PinningWorkload, Worked
from vas_bench.results.measures import PINNING
from vas_bench.results.record import BenchRun
from vas_bench.statistics.summary import Summary, summary
from vas_core.root import Root

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_IDLE_FIELDS = (3, 4)  # of /proc/stat's first line: idle, iowait
_STEAL_FIELD = 7
_MEASURES = {"value": "work_rate", "seconds": "wall_seconds"}
COUNTED = ("migrations_per_second", "cross_node_share")


PinningSubject = ArmSubject[PinningArm]


def identity(
    arm: PinningArm, metric: str, settings: Mapping[str, Any]
) -> RunIdentity[PinningSubject]:
    """Returns an arm with the settings that it runs with; `metric` is the unit of its value."""
    subject = ArmSubject(arm=arm, system=arm.name, workload=PINNING, parameters={"metric": metric})
    return RunIdentity(subject, settings, {})


@dataclass(frozen=True)
class PinningResult:
    """An experiment that is done; `runs` are those that count."""

    workload: str
    metric: str
    tuning: str
    seed: int
    cpus: int
    kernel: str
    runs: tuple[BenchRun, ...]

    @property
    def values(self) -> dict[str, list[float]]:
        """Returns arm -> the values of its runs, in order of the arms."""
        names = [arm.name for arm in arms(tuning=True)]
        found = {
            name: [r.measures["work_rate"] for r in self.runs if r.system == name] for name in names
        }
        return {name: values for name, values in found.items() if values}

    def summaries(self) -> dict[str, Summary]:
        """Returns arm -> the summary of its values (mean, spread)."""
        return {name: summary(values) for name, values in self.values.items()}

    def tests(self) -> list[PinningAnswer]:
        """Returns the tests of means and variances; none with fewer than three runs of an arm."""
        return questions(self.values)

    def counts(self) -> dict[str, dict[str, float]]:
        """Returns arm -> measure -> mean of what the workload counted; empty if it counts
        nothing."""
        found: dict[str, dict[str, float]] = {}
        for name in self.values:
            runs = [run.measures for run in self.runs if run.system == name]
            counted = [one for one in COUNTED if all(one in run for run in runs)]
            if counted:
                found[name] = {one: sum(run[one] for run in runs) / len(runs) for one in counted}
        return found

    @property
    def others_cpus(self) -> float:
        """The mean number of CPUs that other processes used during the runs."""
        return sum(run.measures["others_cpus"] for run in self.runs) / len(self.runs)

    def as_json(self, alpha: float) -> dict[str, Any]:
        """Returns the result as `vas affinity experiment --json` prints it."""
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
            "arms": {name: _spread(one) for name, one in self.summaries().items()},
            "counts": self.counts(),
            "tests": [{**vars(t), "significant": t.significant(alpha)} for t in self.tests()],
            "runs": [_as_json(run) for run in self.runs],
        }


def _spread(one: Summary) -> dict[str, float]:
    named = {"n": one.n, "mean": one.mean, "sd": one.sd, "relative_sd": one.cv}
    return named | {"least": one.lowest, "most": one.highest}


def _as_json(run: BenchRun) -> dict[str, Any]:
    names = (*_MEASURES, "others_cpus", "stolen_cpus")
    found = {name: run.measures[_MEASURES.get(name, name)] for name in names}
    counted = {name: run.measures[name] for name in COUNTED if name in run.measures}
    return {"arm": run.system, **found, **counted}


def machine() -> tuple[int, str]:
    """Returns how many CPUs this process may use, and the kernel's release."""
    return len(os.sched_getaffinity(0)), platform.release()


def observe(root: Root, workload: PinningWorkload, arm: PinningArm) -> Observation:
    """Runs the workload once as an arm, with the arm's settings in force.

    Raises VasError when the workload fails.
    """
    with tuning.tuned(root) if arm.tuned else nullcontext():
        return measured(root, lambda: workload.run(arm))


def measured(root: Root, work: Callable[[], Worked]) -> Observation:
    """Calls what works; notes how long it took, and the CPUs that others used."""
    busy, stolen = _cpu_seconds(root)
    own, started = _own_seconds(), time.monotonic()
    worked = work()
    seconds = time.monotonic() - started
    busy_after, stolen_after = _cpu_seconds(root)
    others = busy_after - busy - (_own_seconds() - own)
    found = {
        "work_rate": worked.value,
        "wall_seconds": round(seconds, 3),
        "others_cpus": round(max(0.0, others) / seconds, 3),
        "stolen_cpus": round((stolen_after - stolen) / seconds, 3),
    }
    return Observation(found | dict(worked.counts))


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
