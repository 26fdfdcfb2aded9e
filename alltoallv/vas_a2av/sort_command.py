"""The command `vas a2av sort`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from vas_a2av.bench_options import ALGORITHMS
from vas_a2av.building import SIMULATED, require
from vas_a2av.simulation import PLATFORMS, run_simulated
from vas_core.cli import json_option, print_json
from vas_core.errors import FoundDifferent
from vas_core.showing import each_shown
from vas_core.table import print_table

_USUAL = ("mpi", "linear", "sloav", "sloav2", "auto")
_LEADERS = "2"  # of a node, in sloav2x
# Of NAS IS: binary logarithms of the number of keys, of the largest key, of the number of buckets.
_CLASSES = {"S": ("16", "11", "9"), "W": ("20", "16", "10")}


@click.command()
@click.option(
    "--class",
    "size",
    type=click.Choice(sorted(_CLASSES)),
    default="S",
    show_default=True,
    help="Number of keys: S has 2^16, W 2^20.",
)
@click.option(
    "--ranks", type=click.IntRange(2, 4096), default=64, show_default=True, help="Number of ranks."
)
@click.option(
    "--node-ranks", type=click.IntRange(1), default=1, show_default=True, help="Ranks on a node."
)
@click.option(
    "--platform",
    type=click.Choice(sorted(PLATFORMS)),
    default="torus",
    show_default=True,
    help="Machine whose network is simulated.",
)
@click.option(
    "--algorithm",
    "algorithms",
    type=click.Choice(ALGORITHMS),
    multiple=True,
    default=_USUAL,
    help="Algorithm to simulate; may be repeated.",
)
@click.option(
    "--radix",
    type=click.IntRange(2),
    default=2,
    show_default=True,
    help="Radix of sloav2, sloav2x and tuna.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Number of rounds that are timed.",
)
@click.option(
    "--calls",
    type=click.Choice(("both", "alltoallv")),
    default="both",
    show_default=True,
    help="Calls that the algorithm serves: MPI_Alltoall too, as where a program preloads the "
    "library, or MPI_Alltoallv only.",
)
@json_option
def sort(
    size: str,
    ranks: int,
    node_ranks: int,
    platform: str,
    algorithms: tuple[str, ...],
    radix: int,
    rounds: int,
    calls: str,
    as_json: bool,
) -> None:
    """Simulate a bucket sort like NAS IS with each algorithm.

    In each round: count keys by bucket, exchange counts by MPI_Alltoall and keys by MPI_Alltoallv,
    rank them. With --calls both, linear is an MPI both of whose functions are linear, such as
    those of Open MPI's component "basic". The reduction is always logarithmic. Computing costs
    2 ns a key and pass, an assumed rate. Exits with 3 when a key is at the wrong rank.

    \b
    Example: vas a2av sort --class S --ranks 128

    \f
    Raises FoundDifferent when a key is at the wrong rank.
    """
    require(SIMULATED)

    def sorted_by(name: str) -> dict[str, Any]:
        words = [name, str(radix), *_CLASSES[size], _LEADERS, str(rounds), calls]
        return run_simulated("bucket_sort", words, ranks, node_ranks, platform)

    found = each_shown(algorithms, str, sorted_by)
    _check_sorted(found)
    if as_json:
        case = {"class": size, "platform": platform, "node_ranks": node_ranks, "calls": calls}
        print_json({"simulated": True, **case, "runs": found})
        return
    rows = [
        (each["algorithm"], f"{each['seconds'] * 1e3:.2f}", f"{each['mops']:.1f}") for each in found
    ]
    print_table(("ALGORITHM", "SIMULATED MS", "MOPS"), rows)


def _check_sorted(found: Sequence[Mapping[str, Any]]) -> None:
    """Raises FoundDifferent for the first algorithm that left keys at the wrong rank."""
    for each in found:
        if not each["sorted"]:
            raise FoundDifferent(f"{each['algorithm']} left keys at the wrong rank")
