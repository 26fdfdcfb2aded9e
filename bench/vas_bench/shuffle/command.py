"""The command `vas bench shuffle`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from pydantic import JsonValue

from vas_bench.engine.rounds import Round
from vas_bench.options import (
    RoundsRequest,
    dry_run_option,
    rounds_option,
    rounds_options,
    size_option,
)
from vas_bench.results.environment import build_of_plugins
from vas_bench.results.record import BenchRun
from vas_bench.run.comparison_plan import ComparisonPlan
from vas_bench.run.conduct import compare_in_lab, say_rounds, without_settings
from vas_bench.run.experiments import Experiment
from vas_bench.run.tez import tez_version
from vas_bench.shuffle.counted import LAYOUTS, count_files, file_row
from vas_bench.shuffle.goals import GoalRow, read_goals, rows
from vas_bench.shuffle.table import print_rows, refuse_invalid_rows
from vas_core.cli import json_option, note
from vas_core.progress import Step, Steps
from vas_core.settings import read_yaml
from vas_lab.state import default_directory

_PLAN = Path(__file__).with_name("shuffle.yaml")
GOALS = Path(__file__).with_name("goals.yaml")
_USUAL = ("terasort", "short-maps", "secondarysort", "sort", "wordcount", "one-map")
_ONE_JVM = "one-jvm"
_LONG = "thousand-maps"
_FILES = "files"
# Those of containers that are used again.
_WARM = "warm"


@click.command()
@rounds_option("Runs on each system.")
@size_option
@click.option(
    "--rows",
    "chosen",
    multiple=True,
    type=click.Choice((*_USUAL, _ONE_JVM, _LONG, _WARM, _FILES)),
    help="Only the rows of this job, of all jobs (warm), or of files; repeatable"
    f" [default: all but {_ONE_JVM} and {_LONG}].",
)
@click.option(
    "--file-maps",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Map attempts whose files are counted.",
)
@click.option("--without-tez", is_flag=True, help="Leave out the rows that compare with Tez.")
@rounds_options
@dry_run_option
@json_option
def shuffle(
    size: int,
    chosen: tuple[str, ...],
    file_maps: int,
    without_tez: bool,
    session: RoundsRequest,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure VAS's shuffle against stock MapReduce's and Tez's.

    Every round runs each job once on each system, in an order drawn by lot, on the same data with
    the same JVM flags and each system's best sort buffer, and validates the output. The rows are
    the shuffle's goals. `vas bench report` reads the file of --resume.

    \b
    Examples: vas bench shuffle --rounds 9 --resume runs.jsonl
              vas bench shuffle --size 64M --rounds 1 --rows terasort --json
              vas bench shuffle --rows warm --budget 3h --resume runs.jsonl

    \f
    Raises VasError when a row is invalid.
    """
    plan, goals = read_yaml(_PLAN, ComparisonPlan), read_goals(GOALS)
    wanted = _wanted(chosen)
    jobs = {key: _experiments(plan, key, size, without_tez) for key in plan.jobs if key in wanted}
    maps = file_maps if _FILES in wanted else 0
    if dry_run:
        _say([session.draw(without_settings(each)) for each in jobs.values()], maps)
        return
    runs: Mapping[str, list[BenchRun]] = {}
    if jobs:
        runs = compare_in_lab(plan, jobs, session, store_settings(size), "vas bench shuffle")
    found = [row for key in runs for row in rows(plan.jobs[key].title, goals[key], runs[key])]
    found += _file_rows(maps)
    print_rows(found, as_json=as_json)
    refuse_invalid_rows(found)


def _wanted(chosen: tuple[str, ...]) -> set[str]:
    if not chosen:
        return {*_USUAL, _FILES}
    return {*chosen, *((*_USUAL, _ONE_JVM, _LONG) if _WARM in chosen else ())}


def _experiments(plan: ComparisonPlan, key: str, size: int, without_tez: bool) -> list[Experiment]:
    names = {it: it for it in plan.jobs[key].systems if not (without_tez and it == "tez")}
    return plan.experiments(key, size, names)


def _say(jobs: Sequence[list[Round[Experiment]]], file_maps: int) -> None:
    drawn = [each for job in jobs for each in job]
    seconds = say_rounds(drawn)
    for name, layout in LAYOUTS.items() if file_maps else ():
        click.echo(f"{_step(name)}  {file_maps * layout.seconds:.0f}")
        seconds += file_maps * layout.seconds
    note(f"{seconds / 60:.0f} min on two quiet cores")
    if any(each.experiment.system == "tez" for each in drawn):
        note(f"Apache Tez {tez_version()} comes from Maven Central; --without-tez leaves it out")


def store_settings(size: int) -> dict[str, JsonValue]:
    """Returns the settings that all runs of a file must have in common, besides the seed.

    Raises NotHere before the plugins are built.
    """
    return {"size_bytes": size, "build": build_of_plugins(), "tez": tez_version()}


def _step(layout: str) -> str:
    return f"files, {layout}"


def _file_rows(maps: int) -> list[GoalRow]:
    directory = default_directory("bench")
    steps = [Step(_step(name), maps * layout.seconds) for name, layout in LAYOUTS.items()]
    if not maps:
        return []
    found = []
    with Steps.show(steps, directory / "files-seconds.json") as progress:
        for layout in LAYOUTS:
            with progress.step(_step(layout)):
                found.append(file_row(layout, count_files(layout, maps, directory)))
    return found
