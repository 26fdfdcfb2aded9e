"""The command `vas bench jbs`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from pydantic import JsonValue

from vas_bench.options import (
    RoundsRequest,
    dry_run_option,
    rounds_option,
    rounds_options,
    size_option,
)
from vas_bench.results.environment import build_of, build_of_plugins
from vas_bench.run.comparison_plan import ComparisonPlan
from vas_bench.run.conduct import compare_in_lab, say_rounds, without_settings
from vas_bench.run.experiments import Experiment
from vas_bench.shuffle.goals import STOCK, Goal, read_goals, rows
from vas_bench.shuffle.table import print_rows, refuse_invalid_rows
from vas_core.cli import json_option, note
from vas_core.errors import BadInput
from vas_core.settings import read_yaml
from vas_lab.hadoop.shuffled import find_shuffled

PLAN = read_yaml(Path(__file__).with_name("jbs.yaml"), ComparisonPlan)
SYSTEMS = list(dict.fromkeys(system for job in PLAN.jobs.values() for system in job.systems))
_CONNECTIONS = "open_connections/daemons"
GOALS = Path(__file__).with_name("goals.yaml")


@click.command()
@rounds_option("Runs on each system.")
@size_option
@click.option(
    "--rows",
    "chosen",
    multiple=True,
    type=click.Choice(list(PLAN.jobs)),
    help="Only the rows of this job; repeatable [default: all].",
)
@click.option(
    "--system",
    "systems",
    multiple=True,
    type=click.Choice(SYSTEMS),
    help="Only this system and stock; repeatable [default: all of a job].",
)
@click.option(
    "--hosts",
    type=click.IntRange(1, PLAN.hosts),
    default=PLAN.hosts,
    show_default=True,
    help="Hosts of the lab.",
)
@rounds_options
@dry_run_option
@json_option
def jbs(
    size: int,
    chosen: tuple[str, ...],
    systems: tuple[str, ...],
    hosts: int,
    session: RoundsRequest,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure vas-shuffled against stock's shuffle.

    Map output is on the nodes' own disks.

    Every round runs each job once on each system, in an order drawn by lot, on the same data with
    the same JVM flags, and validates the output. The systems: stock's shuffle; the daemon with
    stock's map side; the daemon with VAS's collector; the same in warm containers; and these with
    merges by the daemon. The lab's nodes run the daemon.
    Memory, connections and threads are counted while jobs run. `vas bench report` reads the file
    of --resume.

    \b
    Examples: vas bench jbs --dry-run
              vas bench jbs --rounds 3 --size 256M --resume jbs.jsonl
              vas bench jbs --rows terasort --rows one-map --json
              vas bench jbs --rows terasort --hosts 2 --system jbs-warm --system yarn-lustre-hosts
    \f
    Raises NotHere before the daemon is built, BadInput for systems that run no such job.
    """
    plan = PLAN.model_copy(update={"hosts": hosts})
    jobs = planned(plan, size, chosen, systems)
    if dry_run:
        drawn = [each for job in jobs.values() for each in session.draw(without_settings(job))]
        note(f"{say_rounds(drawn) / 60:.0f} min on two quiet cores")
        return
    runs = compare_in_lab(plan, jobs, session, store_settings(size), "vas bench jbs")
    goals = read_goals(GOALS)
    found = [
        row
        for key in runs
        for row in rows(PLAN.jobs[key].title, on_hosts(goals[key], hosts), runs[key])
    ]
    print_rows(found, as_json=as_json)
    refuse_invalid_rows(found)


def on_hosts(goals: Sequence[Goal], hosts: int) -> list[Goal]:
    """Returns goals with the limit of connections for so many hosts: one each way for each pair."""
    most = {"limit": hosts * (hosts - 1)}
    return [g.model_copy(update=most) if g.measure == _CONNECTIONS else g for g in goals]


def planned(
    plan: ComparisonPlan, size: int, chosen: Sequence[str], systems: Sequence[str]
) -> dict[str, list[Experiment]]:
    """Returns job -> the experiments that were chosen; none chosen means all.

    Stock is among them, as all rows are held against it. Raises BadInput if no job that was chosen
    runs on another system of these.
    """
    found = {}
    for key in plan.jobs:
        of_job = plan.experiments(key, size) if not chosen or key in chosen else []
        asked = [each for each in of_job if not systems or each.system in {*systems, STOCK}]
        if any(each.system != STOCK for each in asked):
            found[key] = asked
    if not found:
        hint = "`vas bench jbs --dry-run` lists the systems of each job"
        raise BadInput("no job of --rows runs on these", where="--system", hint=hint)
    return found


def store_settings(size: int) -> dict[str, JsonValue]:
    """Returns the settings that all runs of a file must have in common, besides the seed.

    Raises NotHere before the daemon and the plugins are built.
    """
    daemon = build_of(find_shuffled())
    return {"size_bytes": size, "build": build_of_plugins(), "vas-shuffled": daemon}
