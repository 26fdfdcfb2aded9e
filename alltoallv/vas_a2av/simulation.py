"""Runs the benchmark program on SimGrid's MPI: the same core, on a simulated machine."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vas_a2av.building import SIMULATED, SOURCES, build_for
from vas_core.errors import VasError
from vas_core.process import run

PLATFORM = SOURCES / "platforms" / "torus.xml"
PLATFORM_NODES = 4096
_OVERHEAD_SECONDS = 0.7e-6
_EAGER_BYTES = 8192
_TIMEOUT_SECONDS = 3600.0


@dataclass(frozen=True)
class SimulatedCase:
    """Calls to simulate: `size` is the largest block in bytes."""

    ranks: int
    size: int
    distribution: str
    calls: int
    seed: int
    node_ranks: int = 1
    leaders: int = 2


@dataclass(frozen=True)
class SimulatedCost:
    """Simulated seconds of a call, and what rank 0 sends in it: messages and bytes."""

    algorithm: str
    radix: int
    seconds: float
    messages: int
    payload_bytes: int
    metadata_bytes: int
    scratch_bytes: int


def simulate(case: SimulatedCase, algorithm: str, radix: int) -> SimulatedCost:
    """Simulates calls of one algorithm and returns the cost of one.

    Messages cost latency, bandwidth, and an overhead at both ends; computing and copying cost
    nothing, so the result does not depend on this machine. Raises VasError on more ranks than the
    platform has nodes, CommandFailed when the simulation fails.
    """
    nodes = -(-case.ranks // case.node_ranks)
    if nodes > PLATFORM_NODES:
        raise VasError(
            f"{case.ranks} ranks on a platform of {PLATFORM_NODES} nodes", where="a2av bench"
        )
    program = build_for(SIMULATED, "bench") / "bench"
    with tempfile.TemporaryDirectory(prefix="vas-a2av-") as directory:
        hosts = Path(directory) / "hosts"
        nodes_of_ranks = (rank // case.node_ranks for rank in range(case.ranks))
        hosts.write_text("".join(f"node-{node}\n" for node in nodes_of_ranks))
        words = [
            algorithm,
            radix,
            case.distribution,
            case.size,
            case.calls,
            case.seed,
            case.leaders,
        ]
        launcher = [SIMULATED.launcher, "-np", case.ranks, "-platform", PLATFORM]
        argv = [*launcher, "-hostfile", hosts, *_configuration(), program, *words]
        done = run(list(map(str, argv)), timeout_seconds=_TIMEOUT_SECONDS)
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    found = json.loads(line)
    names = ("messages", "payload_bytes", "metadata_bytes", "scratch_bytes")
    return SimulatedCost(
        algorithm, radix, found["seconds"], **{name: found[name] for name in names}
    )


def _configuration() -> list[str]:
    overhead = f"0:{_OVERHEAD_SECONDS}:0"
    values = {
        "smpi/simulate-computation": "no",
        # The program has no global state, so its ranks share one copy of it.
        "smpi/privatization": "no",
        "smpi/os": overhead,
        "smpi/ois": overhead,
        "smpi/or": overhead,
        "smpi/bw-factor": "0:1",
        "smpi/lat-factor": "0:1",
        "smpi/async-small-thresh": str(_EAGER_BYTES),
        "smpi/coll-selector": "mpich",
        "contexts/stack-size": "256",
    }
    return [f"--cfg={name}:{value}" for name, value in values.items()] + ["--log=root.thres:error"]
