"""How long turns will take: what runs took elsewhere, until they are measured here. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from vas_bench.arms.rounds import run_seconds
from vas_bench.run.order import Turn
from vas_bench.run.workloads import WORKLOADS

# On two quiet cores, as `vas bench shuffle` has them.
_LAB_SECONDS = 25.0
_DATA_SECONDS = 10.0
_DATA_SECONDS_PER_GIB = 25.0
_HDFS_SECONDS = 10.0
_GIB = 1 << 30


def estimated_seconds(turns: Iterable[Turn]) -> list[float]:
    """Each turn's seconds: the run and its check, and before it a lab and data where it is new."""
    return [sum(parts) for parts in _estimated(turns)]


def _estimated(turns: Iterable[Turn]) -> list[tuple[float, float]]:
    """Each turn's seconds before the run, and of the run and its check."""
    found: list[tuple[float, float]] = []
    site, data = None, set[object]()
    for turn in turns:
        it = turn.experiment
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
        found.append((seconds, run))
    return found


class Estimates:
    """The same for each turn in its order, its run's by what runs of its experiment took."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        ordered = list(turns)
        self._expected = dict(zip((t.key for t in ordered), _estimated(ordered), strict=True))
        self._took: dict[str, float] = {}

    def of(self, turn: Turn) -> float:
        """Its seconds."""
        before, run = self._expected[turn.key]
        return before + self._took.get(turn.identity.hash, run)

    def took(self, turn: Turn, seconds: float) -> None:
        """Remembers what a turn took; what was expected before its run is not the run's."""
        before, _ = self._expected[turn.key]
        self._took[turn.identity.hash] = max(0.0, seconds - before)
