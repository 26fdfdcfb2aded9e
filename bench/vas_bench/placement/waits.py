"""When waiting for the host of the data pays: one job placed with several waits, simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_bench.placement.simulator import SimulatedJob, Spread, simulate

# The partner's wait, by the node's: as the plugin's defaults are, 5 and 20 s.
PARTNER_PART = 0.25


@dataclass(frozen=True)
class WaitJob:
    """A job on a cluster: nodes, tasks of a node at a time, tasks by all those at a time (waves),
    and where its splits lie."""

    nodes: int
    slots: int
    waves: int
    spread: Spread

    def __str__(self) -> str:
        return f"{self.nodes} x {self.slots}, waves {self.waves}, {self.spread}"

    def simulated(self, wait: float, extra: int, seed: int) -> SimulatedJob:
        """Returns the job to simulate with this node-wait in seconds."""
        return SimulatedJob(
            nodes=self.nodes,
            splits=self.nodes * self.slots * self.waves,
            slots=self.slots,
            spread=self.spread,
            skew=max(1, self.nodes // 5) if self.spread == "few" else 0,
            seed=seed,
            node_wait_seconds=wait,
            partner_wait_seconds=PARTNER_PART * wait,
            remote_extra_percent=extra,
        )


@dataclass(frozen=True)
class WaitCost:
    """The time and locality of a job that waited, in the mean of its seeds.

    `time_ratio` is the job's time by that without any wait, `local` the share of its tasks that ran
    on the host of their data. A task elsewhere takes `remote_extra_percent` longer.
    """

    job: WaitJob
    remote_extra_percent: int
    node_wait_seconds: float
    time_ratio: float
    local: float


def wait_costs(
    job: WaitJob, extra: int, waits: Sequence[float], seeds: int, *, java: Path, plugins: Path
) -> list[WaitCost]:
    """Returns what each wait, in seconds, does to a job whose tasks take `extra` percent longer
    elsewhere, in the mean of seeds 1 to `seeds`.

    Raises CommandFailed with what the simulator refused.
    """

    def run(wait: float) -> tuple[float, float]:
        simulated = (job.simulated(wait, extra, seed) for seed in range(1, seeds + 1))
        each = [simulate(it, java=java, plugins=plugins) for it in simulated]
        local = sum(it.data_local for it in each) / sum(it.decisions for it in each)
        return sum(it.simulated_seconds for it in each), local

    without, _ = base = run(0)
    found = [(wait, *(run(wait) if wait else base)) for wait in waits]
    return [WaitCost(job, extra, wait, time / without, local) for wait, time, local in found]
