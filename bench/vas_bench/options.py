"""Options that several benchmarks share, and the runs of a file that one of them names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from vas_bench.results.record import BenchRun
from vas_bench.results.store import read_results
from vas_core.cli import DurationType, note
from vas_core.options import Decorator, dry_run

_file = click.Path(path_type=Path, dir_okay=False)
results_path = click.Path(path_type=Path, exists=True, dir_okay=False)

budget_option = click.option(
    "--budget", type=DurationType(), help="Begin no run that would end later: 90s, 20m, 2h."
)
dry_run_option = dry_run("Print what would run and how long it takes.")
skip_damaged_option = click.option(
    "--skip-damaged", is_flag=True, help="Leave out lines that are not runs, and print which."
)


def _together(*options: Decorator) -> Decorator:
    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


plan_options = _together(
    click.argument("plan_file", metavar="PLAN.yaml", type=click.Path(path_type=Path, exists=True)),
    click.option("--out", type=_file, help="The file of results [default: the plan's name.jsonl]."),
    click.option("--resume", is_flag=True, help="Go on from the runs that are in the file."),
    budget_option,
)
"""Gives a command a plan, the file of its runs, `resume` and `budget`."""

rounds_options = _together(
    click.option(
        "--seed",
        type=click.IntRange(0),
        default=1,
        show_default=True,
        help="Random seed of the order.",
    ),
    click.option(
        "--resume",
        type=_file,
        help="Keep the runs in this file; go on from those that are in it.",
    ),
    budget_option,
)
"""Gives a command `seed`, `budget`, and the file to resume, which is made only if it is named."""


def read_runs(path: Path, skip_damaged: bool) -> tuple[BenchRun, ...]:
    """Returns the runs of a file; prints on stderr what it leaves out."""
    return read_results(path, say=note, skip_damaged=skip_damaged)
