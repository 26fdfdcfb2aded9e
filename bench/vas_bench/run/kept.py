"""Options of commands that keep their runs in a file only where one is given."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import click

from vas_bench.results.record import BenchRun
from vas_core.cli import DurationType, note
from vas_core.errors import VasError
from vas_core.shown import counted
from vas_yarn.jars import find_plugins

resume_option = click.option(
    "--resume",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the runs in this file; go on from those that are in it.",
)
budget_option = click.option(
    "--budget", type=DurationType(), help="Begin no run that would end later: 90s, 20m, 2h."
)


def build_of_plugins() -> str:
    """Returns the plugins' SHA-256: runs of other plugins must not be taken for runs of these."""
    return hashlib.sha256(find_plugins().read_bytes()).hexdigest()


def refuse_invalid(runs: Sequence[BenchRun]) -> None:
    """Raises VasError where any run is INVALID, with the first reason, and where none was made."""
    if not runs:
        raise VasError("no run was made", hint="give a larger --budget")
    invalid = [run for run in runs if run.invalid]
    if invalid:
        are = "is" if len(invalid) == 1 else "are"
        raise VasError(
            f"{counted(len(invalid), 'run')} {are} INVALID",
            where=invalid[0].id,
            hint=invalid[0].invalid,
        )


def note_left(left: Sequence[object]) -> None:
    """Prints how many rounds the budget left; prints nothing if it left none."""
    if left:
        note(f"the budget ended with {counted(len(left), 'run')} left: go on by --resume")
