"""The command `vas bench placement`."""

from __future__ import annotations

from dataclasses import asdict

import click

from vas_bench.placement.simulator import SimulatedJob, SimulatedPlacement, simulate
from vas_core.cli import json_option, note, print_json
from vas_core.table import print_table
from vas_lab.spec import find_java
from vas_yarn.jars import find_plugins


@click.command()
@click.option("--nodes", type=click.IntRange(1), default=SimulatedJob.nodes, show_default=True)
@click.option("--splits", type=click.IntRange(1), default=SimulatedJob.splits, show_default=True)
@click.option(
    "--slots", type=click.IntRange(1), default=SimulatedJob.slots, help="Tasks at a time per node."
)
@click.option("--dead", type=click.IntRange(0), default=0, help="Nodes that are down.")
@click.option(
    "--skew", type=click.IntRange(0), default=0, help="Put all splits on this many nodes."
)
@click.option("--node-wait", type=click.FloatRange(0), help="Seconds a task waits for its host.")
@click.option("--partner-wait", type=click.FloatRange(0), help="Seconds more for the HA partner.")
@click.option("--skew-wait", type=click.FloatRange(0), help="Seconds beside a node that is behind.")
@click.option(
    "--remote-extra",
    type=click.IntRange(0, 10_000),
    default=0,
    help="Percent that a task takes longer away from its split.",
)
@click.option("--seed", type=click.IntRange(0), default=SimulatedJob.seed, show_default=True)
@json_option
def placement(
    nodes: int,
    splits: int,
    slots: int,
    dead: int,
    skew: int,
    node_wait: float | None,
    partner_wait: float | None,
    skew_wait: float | None,
    remote_extra: int,
    seed: int,
    as_json: bool,
) -> None:
    """Simulate the placement of a large job.

    Runs the scheduler plugin's own policy in virtual time, and prints where the tasks run and how
    fast it decides.

    \b
    Examples: vas bench placement --nodes 1000 --splits 100000 --dead 5
    without any wait: vas bench placement --node-wait 0 --partner-wait 0
    """
    job = SimulatedJob(
        nodes,
        splits,
        slots,
        dead,
        skew,
        seed,
        node_wait,
        partner_wait,
        skew_wait,
        remote_extra_percent=remote_extra,
    )
    result = simulate(job, java=find_java() / "bin/java", plugins=find_plugins())
    if as_json:
        print_json(asdict(result))
    else:
        _print_placement(result)


def _print_placement(result: SimulatedPlacement) -> None:
    places = (
        ("data-local", result.data_local),
        ("on the HA partner", result.partner_local),
        ("elsewhere", result.other),
    )
    rows = ((name, f"{n}", f"{100 * n / result.decisions:.2f} %") for name, n in places)
    print_table(("tasks", "n", "share"), rows)
    note(
        f"{result.decisions_per_second} decisions/s, {result.work_per_decision:.1f} rows looked at"
        f" for each; the job takes {result.simulated_seconds} s of simulated time"
    )
