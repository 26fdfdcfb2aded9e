"""The command `vas bench scale`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import click

from vas_bench.scale.costs import ALL, GIB, KEPT
from vas_bench.scale.shapes import SimulatedCluster, strong, weak
from vas_bench.scale.simulation import CopyResult, simulate_daemon, simulate_stock
from vas_core.cli import json_option, note, print_json
from vas_core.table import print_table

_SCALINGS = {"weak": weak, "strong": strong}
_NODES = (4, 22, 100)


@dataclass(frozen=True)
class ScaleRow:
    """One simulated copy: its kind of scaling, its cluster and its job."""

    scaling: str
    nodes: int
    reducers: int
    maps: int
    total_bytes: int
    result: CopyResult


@click.command()
@click.option(
    "--nodes",
    multiple=True,
    type=click.IntRange(2, int(KEPT.value)),
    help=f"Nodes of the cluster; repeatable [default: {', '.join(map(str, _NODES))}].",
)
@click.option(
    "--scaling",
    multiple=True,
    type=click.Choice(list(_SCALINGS)),
    help="weak: 6 GiB a reducer; strong: 256 GiB in all; repeatable [default: both].",
)
@click.option("--cores", type=click.IntRange(1), default=SimulatedCluster.cores, show_default=True)
@click.option(
    "--reducers",
    type=click.IntRange(1),
    default=SimulatedCluster.reducers_of_node,
    show_default=True,
    help="Reducers of each node.",
)
@click.option(
    "--link-gbit",
    type=click.FloatRange(0, min_open=True),
    default=SimulatedCluster.link_gbit,
    show_default=True,
    help="Gbit/s of each node's link.",
)
@click.option(
    "--disk-mib",
    type=click.FloatRange(0, min_open=True),
    default=SimulatedCluster.disk_mib,
    show_default=True,
    help="MiB/s of each node's disk.",
)
@click.option(
    "--heap-mib",
    type=click.IntRange(64),
    default=SimulatedCluster.heap_mib,
    show_default=True,
    help="MiB of a reducer's heap.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@json_option
def scale(
    nodes: tuple[int, ...],
    scaling: tuple[str, ...],
    cores: int,
    reducers: int,
    link_gbit: float,
    disk_mib: float,
    heap_mib: int,
    seed: int,
    as_json: bool,
) -> None:
    """Simulate the copy of map output on larger clusters.

    Stock's fetch and vas-shuffled in a discrete-event simulation of disks, cores and links, with
    the costs that `vas bench fetch` measured. No figure of it was measured on such a cluster.

    \b
    Examples: vas bench scale
              vas bench scale --nodes 22 --scaling weak --link-gbit 1 --json
    """
    rows = []
    for kind in scaling or tuple(_SCALINGS):
        for count in nodes or _NODES:
            cluster = SimulatedCluster(count, cores, link_gbit, disk_mib, heap_mib, reducers)
            copy = _SCALINGS[kind](cluster)
            for simulate in (simulate_stock, simulate_daemon):
                result = simulate(copy, seed)
                rows.append(
                    ScaleRow(kind, count, copy.reducers, copy.maps, copy.total_bytes, result)
                )
    if as_json:
        costs = [asdict(each) for each in ALL]
        print_json({"simulated": True, "rows": [asdict(row) for row in rows], "costs": costs})
    else:
        _print(rows)


def _print(rows: list[ScaleRow]) -> None:
    columns = ("scaling", "nodes", "GiB", "arm", "s", "CPU s", "connections", "open at once")
    more = ("requests", "GiB written", "MiB a node")
    print_table((*columns, *more), [_cells(row) for row in rows])
    note("SIMULATED: no figure was measured on a cluster of this size; --json names each cost")


def _cells(row: ScaleRow) -> tuple[str, ...]:
    it = row.result
    return (
        row.scaling,
        f"{row.nodes}",
        f"{row.total_bytes / GIB:.0f}",
        it.arm,
        f"{it.seconds:.1f}",
        f"{it.cpu_seconds:.0f}",
        f"{it.connections_made}",
        f"{it.most_connections_open}",
        f"{it.requests}",
        f"{it.written_bytes / GIB:.0f}",
        f"{it.memory_mib_of_node:.0f}",
    )
