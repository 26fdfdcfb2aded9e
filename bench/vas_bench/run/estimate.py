"""Estimates how long rounds of a plan take, from runs elsewhere. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vas_bench.engine.play import Estimates, Expected
from vas_bench.engine.rounds import Round
from vas_bench.run.experiments import Experiment
from vas_bench.run.workloads import WORKLOADS

# On two quiet cores, as `vas bench shuffle` has them.
_LAB_SECONDS = 25.0
_DATA_SECONDS = 10.0
_DATA_SECONDS_PER_GIB = 25.0
_HDFS_SECONDS = 10.0
_GIB = 1 << 30


def run_seconds(gib: float) -> float:
    """Returns how long a run on so much input takes, and its check, on two quiet cores."""
    return 30 + 45 * gib


def estimated_seconds(rounds: Iterable[Round[Experiment]]) -> list[float]:
    """Returns each round's seconds: the run with its check, and a lab and data where new."""
    return [sum(parts) for parts in _expected(rounds)]


def estimates(rounds: Sequence[Round[Experiment]]) -> Estimates[Experiment]:
    """Returns the estimates for rounds in the order they are played."""
    return Estimates(rounds, _expected(rounds))


def _expected(rounds: Iterable[Round[Experiment]]) -> list[Expected]:
    found: list[Expected] = []
    site, data = None, set[object]()
    for each in rounds:
        it = each.experiment
        workload, gib = WORKLOADS[it.workload], it.size_bytes / _GIB
        run = run_seconds(gib * workload.cost)
        seconds = 0.0
        if it.site != site:
            site, data = it.site, set()
            seconds += _LAB_SECONDS
        if it.data not in data:
            data.add(it.data)
            seconds += _DATA_SECONDS + _DATA_SECONDS_PER_GIB * gib
            # Stock's run, whose output others' are held against.
            seconds += run if workload.as_stock else 0.0
        if it.in_hdfs and ("hdfs", it.data) not in data:
            data.add(("hdfs", it.data))
            seconds += _HDFS_SECONDS + _DATA_SECONDS + _DATA_SECONDS_PER_GIB * gib
        found.append(Expected(seconds, run))
    return found
