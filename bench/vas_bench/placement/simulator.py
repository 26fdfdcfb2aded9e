"""The placement of a large job in virtual time: the plugin's own policy, no YARN."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vas_core.process import run

_SIMULATOR = "org.vas.scheduler.sim.PlacementSim"
_MILLIS = 1000

Spread = Literal["even", "random", "few"]
"""Where splits lie: stripes go round the nodes, or each was drawn; `few` is `even` on a part."""


@dataclass(frozen=True)
class SimulatedJob:
    """The cluster and the job to place. Waits in seconds; `None` is the plugin's default.

    With a `skew` all splits lie on so many nodes; 0: on all. A task takes `remote_extra_percent`
    longer on a node that does not own its split.
    """

    nodes: int = 1000
    splits: int = 100_000
    slots: int = 4
    dead: int = 0
    skew: int = 0
    seed: int = 1
    node_wait_seconds: float | None = None
    partner_wait_seconds: float | None = None
    skew_wait_seconds: float | None = None
    spread: Spread = "even"
    remote_extra_percent: int = 0


@dataclass(frozen=True)
class SimulatedPlacement:
    """The outcome of a simulated placement: where the containers of the job were granted.

    Each decision places one container. `seconds` is the real time that all decisions took,
    `simulated_seconds` the virtual time until the job's last task ended.
    """

    nodes: int
    splits: int
    decisions: int
    decisions_per_second: int
    data_local: int
    partner_local: int
    other: int
    seconds: float
    work_per_decision: float
    simulated_seconds: int


def simulate(job: SimulatedJob, *, java: Path, plugins: Path) -> SimulatedPlacement:
    """Runs the simulator of the plugins' jar. Raises CommandFailed with what it refused."""
    answer = run([java, "-cp", plugins, _SIMULATOR, *_arguments(job)])
    return SimulatedPlacement(**json.loads(answer.stdout))


def _arguments(job: SimulatedJob) -> list[str]:
    waits = {
        "node": job.node_wait_seconds,
        "partner": job.partner_wait_seconds,
        "skew": job.skew_wait_seconds,
    }
    names = ("nodes", "splits", "slots", "dead", "skew", "seed")
    given = {name: getattr(job, name) for name in names}
    given |= {"uneven": int(job.spread == "random"), "remote-extra": job.remote_extra_percent}
    given |= {f"{name}-wait-ms": round(s * _MILLIS) for name, s in waits.items() if s is not None}
    return [word for name, value in given.items() for word in (f"--{name}", str(value))]
