"""The command `vas a2av grid`."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from vas_a2av.bench_options import DISTRIBUTIONS
from vas_a2av.building import SIMULATED, require
from vas_a2av.grid_points import PointFile, point_of
from vas_a2av.simulation import PLATFORMS, SimulatedCase
from vas_core.cli import SizeType, json_option, print_json
from vas_core.files import check_writable
from vas_core.showing import each_shown
from vas_core.sizes import format_size
from vas_core.table import print_table

_DISTRIBUTIONS = tuple(name for name in DISTRIBUTIONS if name != "equal")


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
@click.option(
    "--resume",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that keeps each point, a line of JSON each; those in it are not simulated again.",
)
@json_option
def grid(
    ranks: tuple[int, ...],
    sizes: tuple[int, ...],
    distributions: tuple[str, ...],
    node_ranks: int,
    platform: str,
    resume: Path | None,
    as_json: bool,
) -> None:
    """Compare the library's choice with MPI's own, simulated.

    Each number of ranks, size and distribution is a point. A ratio above 1 says that the library is
    slower.

    \b
    Examples: vas a2av grid --ranks 16 --size 8 --size 4K
              vas a2av grid --ranks 8 --ranks 64 --size 1 --size 1M --resume points.jsonl
    """
    if resume:
        check_writable(resume)
    file = PointFile(resume) if resume else None
    require(SIMULATED)
    first = SimulatedCase(2, 1, "equal", 1, 1, node_ranks, platform=platform)
    cases = [
        replace(first, ranks=count, size=size, distribution=name)
        for count in ranks
        for size in sizes
        for name in distributions
    ]
    points = each_shown(cases, _name, file.point_of if file else point_of)
    if as_json:
        print_json({"simulated": True, "points": [asdict(point) for point in points]})
        return
    rows = [
        (str(p.ranks), str(p.size), p.distribution, p.used, str(p.radix or "-"),
         f"{p.own_seconds * 1e6:.1f}", f"{p.ratio:.3f}")
        for p in points
    ]  # fmt: skip
    print_table(("RANKS", "SIZE B", "SIZES", "USED", "RADIX", "MPI'S OWN US", "RATIO"), rows)


def _name(case: SimulatedCase) -> str:
    return f"{case.ranks} ranks, {format_size(case.size)}, {case.distribution}"
