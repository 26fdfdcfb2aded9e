"""`vas bench shuffle`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_bench.shuffle.goals import GOALS
from vas_bench.shuffle.jobs import JOBS
from vas_bench.shuffle.rows import COLUMNS, Row, judged, rows
from vas_bench.shuffle.session import HOSTS, PROPERTIES, Kept, Plan, run_all
from vas_bench.shuffle.tez import fetch_tez, tez_version
from vas_core.cli import SizeType, json_option, note, print_json, print_table
from vas_core.errors import VasError
from vas_core.progress import Steps
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.state import default_directory


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--size", type=SizeType(), default="1G", show_default=True, help="Of the inputs.")
@click.option(
    "--rows",
    "chosen",
    multiple=True,
    type=click.Choice(tuple(JOBS)),
    help="Only the rows of this job; repeatable [default: all].",
)
@click.option("--without-tez", is_flag=True, help="Leave out the rows that compare with Tez.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the runs in this file; go on from those that are in it.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the order.")
@click.option("--dry-run", is_flag=True, help="Say what would run and how long it takes.")
@json_option
def shuffle(
    rounds: int,
    size: int,
    chosen: tuple[str, ...],
    without_tez: bool,
    resume: Path | None,
    seed: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure VAS's shuffle against stock MapReduce's and Tez's.

    Every round runs each job once in each arm, in an order drawn by lot, on the same data with the
    same JVM flags and sort buffer, and validates the output. The rows are the shuffle's goals.

    \\b
    Examples: vas bench shuffle --rounds 9 --resume runs.json
              vas bench shuffle --size 64M --rounds 1 --rows terasort --json
    """
    plan = Plan(
        size, rounds, seed, tuple(j for j in JOBS if j in (chosen or JOBS)), not without_tez
    )
    kept = Kept(plan, resume)
    if dry_run:
        _say(plan)
        return
    _measure(plan, kept)
    found = rows(GOALS, judged(kept.runs))
    _print(found, as_json)
    _refuse_invalid(found)


def _say(plan: Plan) -> None:
    steps = plan.steps()
    print_table(("STEP", "SECONDS"), ((s.name, f"{s.expected_seconds:.0f}") for s in steps))
    note(f"{sum(s.expected_seconds for s in steps) / 60:.0f} min on two quiet cores")
    if plan.with_tez:
        note(f"Apache Tez {tez_version()} comes from Maven Central; --without-tez leaves it out")


def _measure(plan: Plan, kept: Kept) -> None:
    jars = fetch_tez(note) if plan.with_tez else ()
    directory = default_directory("bench")
    with Steps.show(plan.steps(), directory / "shuffle-seconds.json") as progress:
        options = LabOptions(state_dir=directory, hosts=HOSTS, properties=PROPERTIES)
        with progress.step("start the lab"):
            here = Lab.start(options)
        with here:
            run_all(here, plan, kept, jars, progress)


def _print(found: list[Row], as_json: bool) -> None:
    if as_json:
        print_json({"rows": [row.as_json() for row in found]})
    else:
        print_table(COLUMNS, (row.as_cells() for row in found))
        for row in found:
            if row.invalid:
                note(f"invalid: {row.name}: {row.invalid}")


def _refuse_invalid(found: list[Row]) -> None:
    invalid = [row for row in found if row.invalid]
    if invalid:
        raise VasError(
            f"{len(invalid)} rows are invalid", where=invalid[0].name, hint=invalid[0].invalid
        )
