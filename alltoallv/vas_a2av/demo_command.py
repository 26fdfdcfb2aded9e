"""The command `vas a2av demo`."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from vas_a2av.building import OPEN_MPI, build_for, require
from vas_a2av.demo_network import four_nodes
from vas_a2av.demo_runs import DemoCase, run_demo
from vas_a2av.real_cost import RealCost, check_sizes
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.errors import NotHere
from vas_core.showing import one_shown
from vas_core.table import print_table

_ALGORITHMS = ("linear", "mpi", "sloav", "sloav2", "sloavx", "sloav2x")
_MICROSECOND = 1e-6


@click.command()
@click.option("--size", type=SizeType(), default="64", show_default=True, help="Size of a block.")
@click.option(
    "--per-node",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Number of ranks on each of the four nodes.",
)
@click.option(
    "--algorithm",
    "algorithms",
    type=click.Choice(_ALGORITHMS),
    multiple=True,
    default=_ALGORITHMS,
    help="Run this algorithm only; may be repeated. The others are compared with the first.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Number of rounds; in each the algorithms run in turn.",
)
@click.option(
    "--calls",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Number of calls that are timed in a round.",
)
@json_option
def demo(
    size: int,
    per_node: int,
    algorithms: tuple[str, ...],
    rounds: int,
    calls: int,
    as_json: bool,
) -> None:
    """Count the packets between four nodes of four ranks.

    The nodes are network namespaces joined by a bridge, and Open MPI's ranks talk TCP between
    them. Packets are counted at the nodes' interfaces; acknowledgements are packets too. CPU time
    is that of all ranks, those which wait and poll too; it and the time say little where other
    work shares the cores. Figures are medians of the rounds, with the least and the largest. Needs
    root.

    \b
    Examples: vas a2av demo
              vas a2av demo --per-node 16 --size 16 --algorithm sloav --algorithm sloav2x --calls 20

    \f
    Raises NotHere without root, or without a program that it needs.
    """
    case = DemoCase(per_node, size, calls, rounds)
    check_sizes([size], case.ranks, "a2av demo")
    _require_all()
    program = build_for(OPEN_MPI, "bench") / "bench"
    names = tuple(dict.fromkeys(algorithms))
    with (
        tempfile.TemporaryDirectory(prefix="vas-a2av-") as directory,
        four_nodes(Path(directory)) as agent,
    ):
        name = f"{rounds} rounds on {case.ranks} ranks"
        costs = one_shown(name, partial(run_demo, agent, program, case, names))
    if as_json:
        print_json([asdict(cost) for cost in costs])
        return
    _print(costs)
    cores = os.cpu_count() or 1
    note(f"{case.ranks} ranks share {cores} cores: the times say nothing about a network")


def _print(costs: Sequence[RealCost]) -> None:
    first = costs[0]
    of_first = f"OF {first.algorithm.upper()}'S"
    header = ("ALGORITHM", "PACKETS A CALL", of_first, "CPU US", "ROUNDS", of_first, "US", "ROUNDS")
    rows = [
        (
            cost.algorithm,
            f"{cost.packets:.1f}",
            f"1/{first.packets / max(cost.packets, 0.1):.1f}",
            *cost.spread("cpu_seconds").cells(_MICROSECOND),
            f"{cost.cpu_seconds / first.cpu_seconds:.2f}",
            *cost.spread("seconds").cells(_MICROSECOND),
        )
        for cost in costs
    ]
    print_table(header, rows)


def _require_all() -> None:
    if os.geteuid() != 0:
        hint = "run it as root"
        raise NotHere("only root may make network namespaces", where="a2av demo", hint=hint)
    if not (shutil.which("ip") and shutil.which("unshare")):
        hint = "on Debian 12, apt-get install iproute2 util-linux"
        raise NotHere("ip or unshare is not installed", where="a2av demo", hint=hint)
    require(OPEN_MPI)
