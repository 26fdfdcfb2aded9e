"""The command `vas a2av bench`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from vas_a2av.bench_plan import PlannedCall, compute, plan
from vas_a2av.building import SIMULATED, require
from vas_a2av.plot import TimeCurve, check_plot, draw_times
from vas_a2av.simulation import (
    MOST_RANKS,
    PLATFORMS,
    SimulatedCase,
    SimulatedCost,
    simulate,
)
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.files import write_atomically
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
_SIZES_OF_A_PLOT = tuple(4**power for power in range(11))  # 1 B to 1 MiB
_HEADER = (
    *("ALGORITHM", "RADIX", "SIZE B", "SIMULATED US"),
    *("MESSAGES", "BLOCKS B", "LENGTHS B", "HELD B"),
)
_Measured = tuple[PlannedCall, SimulatedCost]


def _make_case(
    ranks: int,
    distribution: str,
    calls: int,
    seed: int,
    node_ranks: int,
    leaders: int,
    platform: str,
) -> SimulatedCase:
    return SimulatedCase(ranks, 0, distribution, calls, seed, node_ranks, leaders, platform)


_case = shared(
    "case",
    _make_case,
    click.option(
        "--ranks",
        type=click.IntRange(2, MOST_RANKS),
        default=64,
        show_default=True,
        help="Number of ranks.",
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
    "--size",
    "sizes",
    type=SizeType(),
    multiple=True,
    help="Size of the largest block; may be repeated. Default: 8; with --svg 4^0 to 4^10 bytes.",
)
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
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    help="File to draw the times to, by block size: a curve for each algorithm and radix.",
)
@json_option
def bench(
    case: SimulatedCase,
    sizes: tuple[int, ...],
    algorithms: tuple[str, ...],
    radices: tuple[int, ...],
    svg: Path | None,
    as_json: bool,
) -> None:
    """Simulate calls of each algorithm; print times.

    The library's own code runs on SimGrid's MPI. Times are simulated: messages cost latency,
    bandwidth and an overhead at each end, and each copied block what the platform says. Ranks of a
    node share memory in sloavx and sloav2x. No machine's network was measured for these figures.
    Messages and bytes are those that rank 0 sends in a call, and the memory that it holds.

    Above 1,024 ranks linear and pairwise are computed by the model instead, and are marked so;
    above 2,048 the size of a block depends on its distance alone. What cannot be simulated in 8 GiB
    of memory is left out, and named on stderr.

    \b
    Examples: vas a2av bench --ranks 128 --size 16 --radix 2 --radix 8
              vas a2av bench --ranks 32 --calls 1 --svg times.svg
              vas a2av bench --ranks 16384 --algorithm sloav --algorithm sloav2 --calls 1
    """
    sizes = tuple(dict.fromkeys(sizes)) or (_SIZES_OF_A_PLOT if svg else (8,))
    if svg:
        check_plot(svg, sizes)
    require(SIMULATED)
    calls = plan([replace(case, size=size) for size in sizes], algorithms or ALGORITHMS, radices)
    for call in calls:
        if call.left_out:
            note(f"left out: {call.name}: {call.left_out}")
    measured = [(call, _cost_of(call)) for call in calls if not call.left_out]
    if svg:
        write_atomically(svg, _plot(case, measured))
    if as_json:
        print_json(_as_json(case, sizes, measured))
    else:
        print_table(_HEADER, [_row(call, cost) for call, cost in measured])


def _cost_of(call: PlannedCall) -> SimulatedCost:
    return compute(call) if call.computed else simulate(call.case, call.algorithm, call.radix)


def _plot(case: SimulatedCase, measured: Sequence[_Measured]) -> str:
    points: dict[str, list[tuple[int, float]]] = {}
    for call, cost in measured:
        name = f"{call.name} (computed)" if call.computed else call.name
        points.setdefault(name, []).append((call.case.size, cost.seconds))
    curves = [TimeCurve(name, tuple(sorted(each))) for name, each in points.items()]
    title = f"Simulated: time of a call on {case.ranks} ranks"
    nodes = "one rank a node" if case.node_ranks == 1 else f"{case.node_ranks} ranks a node"
    subtitle = f"platform {case.platform}, {nodes}, sizes {case.distribution}; not measured"
    return draw_times(title, subtitle, curves).document(title, description=subtitle)


def _as_json(
    case: SimulatedCase, sizes: Sequence[int], measured: Sequence[_Measured]
) -> dict[str, Any]:
    asked = {name: value for name, value in asdict(case).items() if name != "size"}
    costs = [
        asdict(cost) | {"size": call.case.size, "computed": call.computed}
        for call, cost in measured
    ]
    return {"simulated": True, **asked, "sizes": list(sizes), "costs": costs}


def _row(call: PlannedCall, cost: SimulatedCost) -> tuple[str, ...]:
    time = f"{cost.seconds * 1e6:.1f}" + (" computed" if call.computed else "")
    bytes_of = (cost.messages, cost.payload_bytes, cost.metadata_bytes, cost.scratch_bytes)
    radix = str(cost.radix) if call.has_radix else "-"
    return (cost.algorithm, radix, str(call.case.size), time, *map(str, bytes_of))
