"""The command `vas a2av bench`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from vas_a2av import bench_real
from vas_a2av.bench_options import ALGORITHMS, case_options
from vas_a2av.bench_plan import PlannedCall, compute, plan
from vas_a2av.bench_real import RealCase
from vas_a2av.building import SIMULATED, require
from vas_a2av.plot import TimeCurve, check_plot, draw_times
from vas_a2av.real_cost import check_sizes
from vas_a2av.simulation import SimulatedCase, SimulatedCost, simulate
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.files import write_atomically
from vas_core.showing import each_shown
from vas_core.table import print_table

_SIZES_OF_A_PLOT = tuple(4**power for power in range(11))  # 1 B to 1 MiB
_HEADER = (
    *("ALGORITHM", "RADIX", "SIZE B", "SIMULATED US"),
    *("MESSAGES", "BLOCKS B", "LENGTHS B", "HELD B"),
)
_Measured = tuple[PlannedCall, SimulatedCost]


@click.command()
@case_options
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
    help="Run this algorithm only; may be repeated.",
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
    case: SimulatedCase | RealCase,
    sizes: tuple[int, ...],
    algorithms: tuple[str, ...],
    radices: tuple[int, ...],
    svg: Path | None,
    as_json: bool,
) -> None:
    """Time calls of each algorithm, simulated or on an MPI.

    Without --mpi the library's own code runs on SimGrid's MPI. Times are simulated: messages cost
    latency, bandwidth and an overhead at each end, and each copied block what the platform says.
    Ranks of a node share memory in sloavx and sloav2x. No machine's network was measured for these
    figures. Above 1,024 ranks linear and pairwise are computed by the model instead, and are marked
    so; above 2,048 the size of a block depends on its distance alone. What cannot be simulated in
    8 GiB of memory is left out, and named on stderr.

    With --mpi the times are real. In one run the algorithms are warmed up, then take turns in
    rounds; the table has the median of the rounds, and the least and largest. CPU US is that of all
    ranks together. Where a machine has more ranks than cores, a line says so.

    Messages and bytes are those that rank 0 sends in a call, and the memory that it holds.

    \b
    Examples: vas a2av bench --ranks 128 --size 16 --radix 2 --radix 8
              vas a2av bench --ranks 32 --calls 1 --svg times.svg
              vas a2av bench --mpi openmpi --size 8 --size 64
              vas a2av bench --mpi /opt/mpi --launcher 'srun -N 4 -n 64' --svg times.svg
    """
    sizes = tuple(dict.fromkeys(sizes)) or (_SIZES_OF_A_PLOT if svg else (8,))
    algorithms, radices = tuple(dict.fromkeys(algorithms)), tuple(dict.fromkeys(radices))
    if svg:
        check_plot(svg, sizes)
    if isinstance(case, RealCase):
        _bench_real(case, sizes, algorithms or ALGORITHMS, radices, svg, as_json)
    else:
        _bench_simulated(case, sizes, algorithms or ALGORITHMS, radices, svg, as_json)


def _bench_real(
    case: RealCase,
    sizes: Sequence[int],
    algorithms: Sequence[str],
    radices: Sequence[int],
    svg: Path | None,
    as_json: bool,
) -> None:
    if not case.launcher:
        check_sizes(sizes, case.ranks, "a2av bench")
    costs = bench_real.measure(case, sizes, algorithms, radices)
    if svg:
        write_atomically(svg, bench_real.plot(case, costs))
    if as_json:
        print_json(bench_real.as_json(case, sizes, costs))
        return
    note(bench_real.heading(case, costs))
    print_table(bench_real.HEADER, bench_real.rows_of(costs))


def _bench_simulated(
    case: SimulatedCase,
    sizes: Sequence[int],
    algorithms: Sequence[str],
    radices: Sequence[int],
    svg: Path | None,
    as_json: bool,
) -> None:
    require(SIMULATED)
    calls = plan([replace(case, size=size) for size in sizes], algorithms, radices)
    for call in calls:
        if call.left_out:
            note(f"left out: {call.name}: {call.left_out}")
    kept = [call for call in calls if not call.left_out]
    name = "{0.name}, {0.case.size} B".format
    measured = list(zip(kept, each_shown(kept, name, _cost_of), strict=True))
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
