"""The command `vas a2av grid`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import click

from vas_a2av.bench_command import DISTRIBUTIONS
from vas_a2av.building import SIMULATED, require
from vas_a2av.simulation import PLATFORMS, SimulatedCase, simulate
from vas_core.cli import SizeType, json_option, print_json
from vas_core.table import print_table

_LOOKS_AFTER = 64  # mpi/chooser.c: so many calls are MPI's own before the library looks again
_DISTRIBUTIONS = tuple(name for name in DISTRIBUTIONS if name != "equal")


@dataclass(frozen=True)
class GridPoint:
    """A call by the library's choice, against MPI's own: `ratio` of their simulated seconds.

    `used`: what the library chose. Where that is MPI's own function, the ratio has the one call of
    65 by which the library looks again.
    """

    ranks: int
    size: int
    distribution: str
    used: str
    radix: int
    own_seconds: float
    ratio: float


@click.command()
@click.option(
    "--ranks",
    type=click.IntRange(2, 4096),
    multiple=True,
    default=(8, 16, 32),
    show_default=True,
    help="Number of ranks; may be repeated.",
)
@click.option(
    "--size",
    "sizes",
    type=SizeType(),
    multiple=True,
    default=("1", "64", "1K"),
    show_default=True,
    help="Size of the largest block; may be repeated.",
)
@click.option(
    "--distribution",
    "distributions",
    type=click.Choice(DISTRIBUTIONS),
    multiple=True,
    default=_DISTRIBUTIONS,
    show_default=True,
    help="Distribution of block sizes; may be repeated.",
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
@json_option
def grid(
    ranks: tuple[int, ...],
    sizes: tuple[int, ...],
    distributions: tuple[str, ...],
    node_ranks: int,
    platform: str,
    as_json: bool,
) -> None:
    """Compare the library's choice with MPI's own, simulated.

    Each number of ranks, size and distribution is a point. A ratio above 1 says that the library is
    slower.

    \b
    Example: vas a2av grid --ranks 16 --size 8 --size 4K
    """
    require(SIMULATED)
    first = SimulatedCase(2, 1, "equal", 1, 1, node_ranks, platform=platform)
    cases = (
        replace(first, ranks=count, size=size, distribution=name)
        for count in ranks
        for size in sizes
        for name in distributions
    )
    points = list(points_of(cases))
    if as_json:
        print_json({"simulated": True, "points": [asdict(point) for point in points]})
        return
    rows = [
        (str(p.ranks), str(p.size), p.distribution, p.used, str(p.radix or "-"),
         f"{p.own_seconds * 1e6:.1f}", f"{p.ratio:.3f}")
        for p in points
    ]  # fmt: skip
    print_table(("RANKS", "SIZE B", "SIZES", "USED", "RADIX", "MPI'S OWN US", "RATIO"), rows)


def points_of(cases: Iterator[SimulatedCase]) -> Iterator[GridPoint]:
    """Yields the point of each case. Raises CommandFailed when a simulation fails."""
    for case in cases:
        chosen = simulate(case, "auto", 2)
        if chosen.used == "mpi":
            own = chosen.seconds
            look = simulate(case, "sloav2", 2).seconds
            seconds = (_LOOKS_AFTER * own + look) / (_LOOKS_AFTER + 1)
        else:
            own, seconds = simulate(case, "mpi", 2).seconds, chosen.seconds
        where = (case.ranks, case.size, case.distribution)
        yield GridPoint(*where, chosen.used, chosen.used_radix, own, seconds / own)
