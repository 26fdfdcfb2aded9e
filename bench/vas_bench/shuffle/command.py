"""`vas bench shuffle`."""

from __future__ import annotations

import hashlib
from pathlib import Path

import click

from vas_bench.shuffle.counted import LAYOUTS, count_files, file_row
from vas_bench.shuffle.goals import GOALS
from vas_bench.shuffle.jobs import JOBS
from vas_bench.shuffle.rows import COLUMNS, Row, judged, rows
from vas_bench.shuffle.session import (
    HOSTS,
    PROPERTIES,
    START,
    Kept,
    Plan,
    file_step,
    run_all,
)
from vas_bench.shuffle.tez import fetch_tez, tez_version
from vas_core.cli import SizeType, json_option, note, print_json, print_table
from vas_core.errors import VasError
from vas_core.progress import Steps
from vas_lab.disk import check_disk, free_bytes
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.state import default_directory
from vas_yarn.jars import find_plugins

_FILES = "files"
# The input, map output written and fetched, what stock spills of it again, the output.
_COPIES = 5


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--size", type=SizeType(), default="1G", show_default=True, help="Of the inputs.")
@click.option(
    "--rows",
    "chosen",
    multiple=True,
    type=click.Choice((*JOBS, _FILES)),
    help="Only the rows of this job, or of files; repeatable [default: all].",
)
@click.option(
    "--file-maps",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Map attempts whose files are counted.",
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
    file_maps: int,
    without_tez: bool,
    resume: Path | None,
    seed: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure VAS's shuffle against stock MapReduce's and Tez's.

    Every round runs each job once in each arm, in an order drawn by lot, on the same data with the
    same JVM flags and each arm's best sort buffer, and validates the output. The rows are the
    shuffle's goals.

    \b
    Examples: vas bench shuffle --rounds 9 --resume runs.json
              vas bench shuffle --size 64M --rounds 1 --rows terasort --json
    """
    wanted = chosen or (*JOBS, _FILES)
    jobs = tuple(job for job in JOBS if job in wanted)
    with_tez = not without_tez and any(JOBS[job].against_tez for job in jobs)
    build = _build() if resume and not dry_run else ""
    plan = Plan(size, rounds, seed, jobs, with_tez, file_maps if _FILES in wanted else 0, build)
    if dry_run:
        _say(plan)
        return
    kept = Kept(plan, resume)
    found = _measure(plan, kept)
    _print(found, as_json)
    _refuse_invalid(found)


def _build() -> str:
    """Runs of other plugins must not be taken for runs of these."""
    return hashlib.sha256(find_plugins().read_bytes()).hexdigest()


def _say(plan: Plan) -> None:
    steps = plan.steps()
    print_table(("STEP", "SECONDS"), ((s.name, f"{s.expected_seconds:.0f}") for s in steps))
    note(f"{sum(s.expected_seconds for s in steps) / 60:.0f} min on two quiet cores")
    if plan.with_tez:
        note(f"Apache Tez {tez_version()} comes from Maven Central; --without-tez leaves it out")


def _measure(plan: Plan, kept: Kept) -> list[Row]:
    directory = default_directory("bench")
    with Steps.show(plan.steps(), directory / "shuffle-seconds.json") as progress:
        if plan.jobs:
            _run_in_lab(plan, kept, directory, progress)
        found = rows(GOALS, judged([run for run in kept.runs if run.job in plan.jobs]))
        for layout in LAYOUTS if plan.file_maps else ():
            with progress.step(file_step(layout)):
                found.append(file_row(layout, count_files(layout, plan.file_maps, directory)))
    return found


def _run_in_lab(plan: Plan, kept: Kept, directory: Path, progress: Steps) -> None:
    jars = fetch_tez(note) if plan.with_tez else ()
    options = LabOptions(state_dir=directory, hosts=HOSTS, properties=PROPERTIES)
    check_disk(free_bytes(directory), size=plan.size_bytes, copies=_COPIES)
    with progress.step(START):
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
