"""The command `vas bench waits`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import get_args

import click

from vas_bench.placement.simulator import Spread
from vas_bench.placement.waits import WaitCost, WaitJob, wait_costs
from vas_bench.placement.waits_picture import check_picture, draw_waits
from vas_core.cli import json_option, print_json
from vas_core.showing import each_shown
from vas_core.svg import write_picture
from vas_core.table import print_table
from vas_lab.spec import find_java
from vas_yarn.jars import find_plugins


@click.command()
@click.option("--nodes", type=click.IntRange(1), multiple=True, default=[4, 22, 100])
@click.option(
    "--slots", type=click.IntRange(1), multiple=True, default=[4], help="Tasks at a time per node."
)
@click.option(
    "--waves", type=click.IntRange(1), multiple=True, default=[1, 4], help="Tasks of each slot."
)
@click.option(
    "--spread",
    "spreads",
    type=click.Choice(get_args(Spread)),
    multiple=True,
    default=get_args(Spread),
    help="even: stripes go round all nodes; random: drawn; few: all on a fifth of the nodes.",
)
@click.option(
    "--remote-extra",
    "extras",
    type=click.IntRange(0, 10_000),
    multiple=True,
    default=[0, 25, 50, 100],
    help="Percent that a task takes longer elsewhere.",
)
@click.option(
    "--node-wait",
    "waits",
    type=click.FloatRange(0),
    multiple=True,
    default=[5, 10, 20, 40],
    help="Seconds a task waits for its host; a quarter more for the HA partner.",
)
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True)
@click.option(
    "--svg",
    "picture",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw time by the cost of a remote task into this file.",
)
@json_option
def waits(
    nodes: tuple[int, ...],
    slots: tuple[int, ...],
    waves: tuple[int, ...],
    spreads: tuple[Spread, ...],
    extras: tuple[int, ...],
    waits: tuple[float, ...],
    seeds: int,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Simulate when it pays to wait for the host of the data.

    Runs the scheduler plugin's own policy in virtual time, with tasks of 10 to 30 s that take
    longer elsewhere, and compares a job's time with that without any wait. All options but --seeds
    may be given several times; each is combined with each.

    \b
    Examples: vas bench waits --nodes 22 --spread even --remote-extra 25
              vas bench waits --svg waits.svg --json
    """
    if picture:
        check_picture(picture, extras)
    jobs = [WaitJob(n, s, w, kind) for n in nodes for s in slots for w in waves for kind in spreads]
    java, plugins = find_java() / "bin/java", find_plugins()
    found = each_shown(
        [*product(jobs, sorted(extras))],
        lambda it: f"{it[0]}, +{it[1]} %",
        lambda it: wait_costs(*it, sorted(waits), seeds, java=java, plugins=plugins),
    )
    if picture:
        write_picture(draw_waits([cost for row in found for cost in row]), picture, picture.stem)
    if as_json:
        print_json([asdict(cost) for row in found for cost in row])
    else:
        print_table(
            ("job", "remote", *(f"{wait:g} s" for wait in sorted(waits))), map(_cells, found)
        )


def _cells(costs: Sequence[WaitCost]) -> tuple[str, ...]:
    ratios = (f"{it.time_ratio:.2f} ({100 * it.local:.0f} %)" for it in costs)
    return (str(costs[0].job), f"+{costs[0].remote_extra_percent} %", *ratios)
