"""The command `vas bench arms`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from pydantic import JsonValue

from vas_bench.arms.comparison import SystemComparison
from vas_bench.engine.play import refuse_invalid
from vas_bench.engine.rounds import Round
from vas_bench.options import RoundsRequest, dry_run_option, rounds_option, rounds_options
from vas_bench.results.environment import build_of_plugins
from vas_bench.results.systems import NAME_OF, SYSTEM_OF
from vas_bench.run.comparison_plan import ComparisonPlan
from vas_bench.run.conduct import compare_in_lab, without_settings
from vas_bench.run.estimate import estimated_seconds
from vas_bench.run.experiments import Experiment
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.settings import read_yaml
from vas_core.table import print_table
from vas_yarn.jobs.systems import BASE

_PLAN = Path(__file__).with_name("arms.yaml")
_JOB = "terasort"


@click.command()
@click.option("--size", type=SizeType(), default="768M", show_default=True, help="Input size.")
@click.option(
    "--hosts", type=click.IntRange(1, 64), default=4, show_default=True, help="Hosts of the lab."
)
@rounds_option("Runs of each arm.")
@click.option(
    "--arm",
    "names",
    multiple=True,
    type=click.Choice(list(SYSTEM_OF)),
    help="Only this arm; repeatable [default: all].",
)
@click.option(
    "--base",
    type=click.Choice(list(SYSTEM_OF)),
    default=BASE,
    show_default=True,
    help="The arm the others are compared with.",
)
@rounds_options
@dry_run_option
@json_option
def arms(
    size: int,
    hosts: int,
    names: tuple[str, ...],
    base: str,
    session: RoundsRequest,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run the demo's arms in rounds, and compare their times.

    The last arm is without the demo's warm containers: `vas bench shuffle` measures those.
    Every round sorts the same data once in each arm, in an order drawn by lot, and validates what
    was written. Ratios of medians come with a 95 % interval and a significance test. A run that
    fails is INVALID and counted nowhere. `vas bench report` reads the file of --resume.

    \b
    Examples: vas bench arms --rounds 5
              vas bench arms --arm "real hosts" --arm VAS --rounds 9 --resume arms.jsonl --json
    """
    plan = read_yaml(_PLAN, ComparisonPlan).model_copy(update={"hosts": hosts})
    chosen = {SYSTEM_OF[n]: n for n in SYSTEM_OF if not names or n in names or n == base}
    experiments = plan.experiments(_JOB, size, chosen)
    if dry_run:
        _say(session.draw(without_settings(experiments)))
        return
    settings: dict[str, JsonValue] = {"size_bytes": size, "hosts": hosts}
    settings["build"] = build_of_plugins()
    made = compare_in_lab(plan, {_JOB: experiments}, session, settings, "vas bench arms")[_JOB]
    valid = tuple(run for run in made if not run.invalid)
    if any(run.system == SYSTEM_OF[base] for run in valid):
        _print(SystemComparison(valid, SYSTEM_OF[base], NAME_OF), as_json)
    refuse_invalid(made)


def _say(drawn: Sequence[Round[Experiment]]) -> None:
    rows = [(each.number, NAME_OF[each.experiment.system]) for each in drawn]
    print_table(("ROUND", "ARM"), rows)
    note(f"about {sum(estimated_seconds(drawn)) / 60:.0f} min on two quiet cores")


def _print(found: SystemComparison, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json())
        return
    base = found.names[found.base]
    print_table(("arm", "data-local", "job s", "CPU s", f"job / {base}", "CPU"), found.rows())
