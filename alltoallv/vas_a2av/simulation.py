"""Runs programs on SimGrid's MPI: the same core as elsewhere, on a simulated machine."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vas_a2av.building import SIMULATED, SOURCES, build_for
from vas_a2av.ending import interrupted_by_signals
from vas_a2av.model import Network
from vas_a2av.network_file import figures_of
from vas_core.errors import VasError
from vas_core.process import run

_EAGER_BYTES = 8192
_TIMEOUT_SECONDS = 3600.0
_NODES, _LARGE_NODES = 4096, 16384
MOST_RANKS = 16384
# Above so many ranks bench/many_ranks.c is used, whose ranks share memory that nobody looks at.
MANY_RANKS = 2048


@dataclass(frozen=True)
class Platform:
    """A simulated machine: the name of its file, its nodes, and the figures for the model.

    `block_seconds`: what a rank needs for each block that it copies, besides its bytes.
    `large_file`: a larger machine of the same kind, for runs that have more nodes than this one.
    """

    file: str
    network: Network
    block_seconds: float
    large_file: str = ""

    @property
    def most_nodes(self) -> int:
        """The number of nodes of the largest machine of this kind."""
        return _LARGE_NODES if self.large_file else _NODES

    def path(self, nodes: int) -> Path:
        """Returns the file by which SimGrid knows a machine of at least so many nodes."""
        return SOURCES / "platforms" / (self.file if nodes <= _NODES else self.large_file)


# Measured by alltoallv/bench/copies.c, with blocks of 8 and 64 bytes on 1,024 ranks.
_BLOCK_SECONDS = 6e-9
# Set so that SLOAV needs on 1,024 ranks what the dissertation says, 62 % less than linear.
_JAGUARS_BLOCK_SECONDS = 48e-9


def _network(overhead_us: float, latency_us: float, bytes_per_second: float) -> Network:
    return Network(overhead_us * 1e-6, latency_us * 1e-6, bytes_per_second, 10e9)


_GEMINI = _network(0.7, 0.5, 5e9)
PLATFORMS = {
    "torus": Platform("torus.xml", _GEMINI, _BLOCK_SECONDS, "torus-16k.xml"),
    "jaguar": Platform("torus.xml", _GEMINI, _JAGUARS_BLOCK_SECONDS, "torus-16k.xml"),
    "fat-tree": Platform("fat-tree.xml", _network(0.4, 0.6, 25e9), _BLOCK_SECONDS),
    "gige": Platform("gige.xml", _network(4.0, 25.0, 125e6), _BLOCK_SECONDS),
}


@dataclass(frozen=True)
class SimulatedCase:
    """Calls to simulate: `size` is the largest block in bytes.

    `believed`: the figures by which the library chooses; None for those of the platform.
    """

    ranks: int
    size: int
    distribution: str
    calls: int
    seed: int
    node_ranks: int = 1
    leaders: int = 2
    platform: str = "torus"
    believed: Network | None = None


@dataclass(frozen=True)
class Decision:
    """The calls by which the library decided who does the next ones, and how many those are.

    `seconds`: simulated, of all these calls together.
    """

    calls: int
    seconds: float
    left: int


@dataclass(frozen=True)
class SimulatedCost:
    """Simulated seconds of a call, and what rank 0 sends in it: messages and bytes.

    `used`: what did the calls, which differs from `algorithm` where the library chose; "mpi" for
    MPI's own function. `decision` is None where the library had nothing to decide.
    """

    algorithm: str
    radix: int
    seconds: float
    messages: int
    payload_bytes: int
    metadata_bytes: int
    scratch_bytes: int
    used: str
    used_radix: int
    used_leaders: int
    decision: Decision | None = None


def simulate(case: SimulatedCase, algorithm: str, radix: int) -> SimulatedCost:
    """Simulates calls of one algorithm and returns the cost of one.

    Messages cost latency, bandwidth, and an overhead at both ends, and copies of blocks what the
    platform says, so the result does not depend on this machine. Raises VasError on more ranks than
    the platform has nodes, CommandFailed when the simulation fails.
    """
    words: list[object] = [case.distribution, case.size, case.calls, case.seed, case.leaders]
    where = (case.ranks, case.node_ranks, case.platform, case.believed)
    many = needs_shared_memory(case, algorithm)
    program = "many_ranks" if many else "bench"
    words[:0] = [algorithm, radix] if many else [f"{algorithm}:{radix}"]
    found = run_simulated(program, list(map(str, words)), *where)
    counted = ("messages", "payload_bytes", "metadata_bytes", "scratch_bytes")
    names = (*counted, "used", "used_radix", "used_leaders")
    decided = found.get("decision", {"calls": 0})
    decision = Decision(**decided) if decided["calls"] else None
    values = {name: found[name] for name in names}
    return SimulatedCost(algorithm, radix, found["seconds"], **values, decision=decision)


def needs_shared_memory(case: SimulatedCase, algorithm: str) -> bool:
    """Tells whether a case has so many ranks that they must share what none of them looks at.

    The size of a block depends on its distance alone then.
    """
    has_own_program = algorithm in ("sloav", "two-phase", "tuna", "sloav2")
    return case.ranks > MANY_RANKS and has_own_program


def run_simulated(
    name: str,
    words: list[str],
    ranks: int,
    node_ranks: int,
    platform_name: str,
    believed: Network | None = None,
) -> dict[str, Any]:
    """Builds a program, runs it on a platform and returns the JSON object that it prints.

    `believed`: the figures by which the library chooses; None for those of the platform.

    Raises VasError on more ranks than the platform has nodes for, CommandFailed when it fails.
    """
    platform = PLATFORMS[platform_name]
    nodes = -(-ranks // node_ranks)
    if nodes > platform.most_nodes:
        what = f"{ranks} ranks on a platform of {platform.most_nodes} nodes"
        hint = "put more ranks on a node (--node-ranks)"
        raise VasError(what, where="a2av bench", hint=hint)
    program = build_for(SIMULATED, name) / name
    with interrupted_by_signals(), tempfile.TemporaryDirectory(prefix="vas-a2av-") as directory:
        hosts, figures = Path(directory) / "hosts", Path(directory) / "network.conf"
        hosts.write_text("".join(f"node-{rank // node_ranks}\n" for rank in range(ranks)))
        figures.write_text(figures_of(believed or platform.network))
        launcher: list[str | Path] = [
            SIMULATED.launcher,
            # smpirun is a script: without this the program outlives it where it is killed.
            "-wrapper",
            "setpriv --pdeathsig KILL",
            "-np",
            str(ranks),
            "-platform",
            platform.path(nodes),
        ]
        configuration = _configuration(platform.network.overhead_seconds, name == "bucket_sort")
        done = run(
            [*launcher, "-hostfile", hosts, *configuration, program, *words],
            env=os.environ | {"VAS_A2AV_NETWORK": str(figures)} | _copies(platform),
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    found: dict[str, Any] = json.loads(line)
    return found


def _copies(platform: Platform) -> dict[str, str]:
    """Returns the variables by which mpi/transport.c knows what copies cost, in picoseconds."""
    byte_seconds = 1 / platform.network.copy_bytes_per_second
    return {
        "VAS_A2AV_BLOCK_PS": f"{platform.block_seconds * 1e12:.0f}",
        "VAS_A2AV_COPY_BYTE_PS": f"{byte_seconds * 1e12:.0f}",
    }


def _configuration(overhead_seconds: float, timed_reductions: bool) -> list[str]:
    overhead = f"0:{overhead_seconds}:0"
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
        # MPICH's make communicators of nodes first, with a message from each rank to each other.
        **({} if timed_reductions else {"smpi/allreduce": "rdb", "smpi/bcast": "binomial_tree"}),
        "contexts/stack-size": "256",
    }
    return [f"--cfg={name}:{value}" for name, value in values.items()] + ["--log=root.thres:error"]
