"""The command `vas a2av bench`."""

from __future__ import annotations

from dataclasses import asdict

import click

from vas_a2av.building import SIMULATED, require
from vas_a2av.simulation import PLATFORMS, SimulatedCase, SimulatedCost, simulate
from vas_core.cli import SizeType, json_option, print_json
from vas_core.options import shared
from vas_core.table import print_table

ALGORITHMS = (
    "mpi",
    "auto",
    "linear",
    "pairwise",
    "sloav",
    "two-phase",
    "tuna",
    "sloav2",
    "sloavx",
    "sloav2x",
)
DISTRIBUTIONS = ("equal", "uniform", "normal", "power-law", "one-hot")
_WITH_RADIX = ("tuna", "sloav2", "sloav2x")

_case = shared(
    "case",
    SimulatedCase,
    click.option(
        "--ranks",
        type=click.IntRange(2, 4096),
        default=64,
        show_default=True,
        help="Number of ranks.",
    ),
    click.option(
        "--size", type=SizeType(), default="8", show_default=True, help="Size of the largest block."
    ),
    click.option(
        "--distribution",
        type=click.Choice(DISTRIBUTIONS),
        default="uniform",
        show_default=True,
        help="Distribution of block sizes.",
    ),
    click.option(
        "--calls", type=click.IntRange(1), default=4, show_default=True, help="Number of calls."
    ),
    click.option(
        "--node-ranks",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Ranks on a node.",
    ),
    click.option(
        "--platform",
        type=click.Choice(sorted(PLATFORMS)),
        default="torus",
        show_default=True,
        help="Machine whose network is simulated.",
    ),
    click.option(
        "--leaders", type=click.IntRange(1), default=2, show_default=True, help="Leaders on a node."
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Random seed of sizes."),
)


@click.command()
@_case
@click.option(
    "--algorithm",
    "algorithms",
    type=click.Choice(ALGORITHMS),
    multiple=True,
    help="Simulate this algorithm only; may be repeated.",
)
@click.option(
    "--radix",
    "radices",
    type=click.IntRange(2),
    multiple=True,
    default=(2,),
    show_default=True,
    help="Radix of sloav2, sloav2x and tuna; may be repeated.",
)
@json_option
def bench(
    case: SimulatedCase, algorithms: tuple[str, ...], radices: tuple[int, ...], as_json: bool
) -> None:
    """Simulate calls of each algorithm; print times.

    The library's own code runs on SimGrid's MPI. Times are simulated: messages cost latency,
    bandwidth and an overhead at each end, and each copied block what the platform says. Ranks of a
    node share memory in sloavx and sloav2x. No machine's network was measured for these figures.
    Messages and bytes are those that rank 0 sends in a call, and the memory that it holds.

    \b
    Example: vas a2av bench --ranks 128 --size 16 --radix 2 --radix 8
    """
    require(SIMULATED)
    costs = [
        simulate(case, algorithm, radix)
        for algorithm in algorithms or ALGORITHMS
        for radix in (radices if algorithm in _WITH_RADIX else (2,))
    ]
    if as_json:
        print_json({"simulated": True, **asdict(case), "costs": [asdict(c) for c in costs]})
        return
    header = ("ALGORITHM", "RADIX", "SIMULATED US", "MESSAGES", "BLOCKS B", "LENGTHS B", "HELD B")
    print_table(header, [_row(cost) for cost in costs])


def _row(cost: SimulatedCost) -> tuple[str, ...]:
    radix = str(cost.radix) if cost.algorithm in _WITH_RADIX else "-"
    bytes_of = (cost.messages, cost.payload_bytes, cost.metadata_bytes, cost.scratch_bytes)
    return (cost.algorithm, radix, f"{cost.seconds * 1e6:.1f}", *map(str, bytes_of))
