"""The command `vas a2av demo`."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from vas_a2av.building import OPEN_MPI, build_for, require
from vas_a2av.demo_network import NODES, address, four_nodes, inside, sent_packets
from vas_core.cli import SizeType, json_option, print_json
from vas_core.errors import NotHere
from vas_core.process import run
from vas_core.table import print_table

_RANKS_OF_NODE = 4
_FEW_CALLS, _MANY_CALLS = 20, 220
_TIMEOUT_SECONDS = 300.0
_ALGORITHMS = ("linear", "mpi", "sloav", "sloav2", "sloavx", "sloav2x")


@dataclass(frozen=True)
class DemoCost:
    """Cost of one call of an algorithm: packets and CPU seconds are of all 16 ranks together."""

    algorithm: str
    packets: float
    cpu_seconds: float
    seconds: float


@click.command()
@click.option("--size", type=SizeType(), default="64", show_default=True, help="Size of a block.")
@json_option
def demo(size: int, as_json: bool) -> None:
    """Count the packets between four nodes of four ranks.

    The nodes are network namespaces joined by a bridge, and Open MPI's ranks talk TCP between
    them. A run of few calls is subtracted from one of many, so the packets of starting are not
    counted. Acknowledgements are packets too. CPU time includes that of ranks which wait and poll;
    it and the time say little where other work shares the cores. Needs root.

    \b
    Example: vas a2av demo

    \f
    Raises NotHere without root, or without a program that it needs.
    """
    _require_all()
    program = build_for(OPEN_MPI, "bench") / "bench"
    with (
        tempfile.TemporaryDirectory(prefix="vas-a2av-") as directory,
        four_nodes(Path(directory)) as agent,
    ):
        costs = [cost_of(agent, program, name, size) for name in _ALGORITHMS]
    if as_json:
        print_json([asdict(cost) for cost in costs])
        return
    first = costs[0]
    rows = [
        (cost.algorithm, f"{cost.packets:.1f}", f"1/{first.packets / max(cost.packets, 0.1):.1f}",
         f"{cost.cpu_seconds * 1e6:.0f}", f"{cost.seconds * 1e6:.0f}")
        for cost in costs
    ]  # fmt: skip
    print_table(("ALGORITHM", "PACKETS A CALL", "OF LINEAR'S", "CPU US", "US"), rows)


def _require_all() -> None:
    if os.geteuid() != 0:
        hint = "run it as root"
        raise NotHere("only root may make network namespaces", where="a2av demo", hint=hint)
    if not (shutil.which("ip") and shutil.which("unshare")):
        hint = "on Debian 12, apt-get install iproute2 util-linux"
        raise NotHere("ip or unshare is not installed", where="a2av demo", hint=hint)
    require(OPEN_MPI)


def cost_of(agent: Path, program: Path, algorithm: str, size: int) -> DemoCost:
    """Runs few calls of an algorithm and many, and returns the cost of one call.

    Raises CommandFailed when a run fails or takes too long.
    """
    few, _ = _run_calls(agent, program, algorithm, size, _FEW_CALLS)
    many, timed = _run_calls(agent, program, algorithm, size, _MANY_CALLS)
    packets = (many - few) / (_MANY_CALLS - _FEW_CALLS)
    return DemoCost(algorithm, packets, timed["cpu_seconds"], timed["seconds"])


def _run_calls(
    agent: Path, program: Path, algorithm: str, size: int, calls: int
) -> tuple[int, dict[str, float]]:
    """Returns the packets that were sent, and what the benchmark printed of one call."""
    hosts = ",".join(f"{address(node)}:{_RANKS_OF_NODE}" for node in range(1, NODES + 1))
    parameters = {
        "plm_rsh_agent": str(agent),
        "oob_tcp_if_include": "eth0",
        "btl_tcp_if_include": "eth0",
        "btl": "tcp,self,vader",
        "pml": "ob1",
        "mpi_yield_when_idle": "1",
        # The last words of ranks that end at once can reach mpiexec late: that is not an error.
        "orte_allowed_exit_without_sync": "1",
    }
    words = [*inside(1), OPEN_MPI.launcher, "--allow-run-as-root", "--oversubscribe"]
    words += [word for name, value in parameters.items() for word in ("--mca", name, value)]
    words += ["--host", hosts, "-n", str(NODES * _RANKS_OF_NODE), "--map-by", "slot"]
    words += [str(program), algorithm, "2", "equal", str(size), str(calls), "1", "1"]
    before = sent_packets()
    done = run(words, timeout_seconds=_TIMEOUT_SECONDS)
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    timed: dict[str, float] = json.loads(line)
    return sent_packets() - before, timed
