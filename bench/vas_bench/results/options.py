"""Options that commands on results share."""

from __future__ import annotations

from pathlib import Path

import click

from vas_bench.results.record import BenchRun
from vas_bench.results.store import read_results
from vas_core.cli import note

skip_damaged_option = click.option(
    "--skip-damaged", is_flag=True, help="Leave out lines that are not runs, and print which."
)
results_path = click.Path(path_type=Path, exists=True, dir_okay=False)


def read_runs(path: Path, skip_damaged: bool) -> tuple[BenchRun, ...]:
    """Returns the runs of a file; prints on stderr what it leaves out."""
    return read_results(path, say=note, skip_damaged=skip_damaged)
