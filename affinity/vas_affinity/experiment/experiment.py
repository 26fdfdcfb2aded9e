"""The command `vas affinity experiment`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from vas_affinity.experiment import table, tuning
from vas_affinity.experiment.conduct import ExperimentResult, ExperimentRun, conduct, machine
from vas_affinity.experiment.design import FEWEST_RUNS, ExperimentArm, arms, order
from vas_affinity.experiment.figure import draw_arms
from vas_affinity.experiment.workload import (
    CommandWorkload,
    ExperimentWorkload,
    Pipeline,
    check_command,
    compile_pipeline,
)
from vas_affinity.options import cpus_here
from vas_core.cli import RealRange, json_option, note, print_json
from vas_core.files import write_atomically
from vas_core.root import Root
from vas_core.svg import check_name, write_picture

_ROOT = Root()
_file = click.Path(path_type=Path, dir_okay=False)
_count = click.IntRange(1)


@dataclass(frozen=True, kw_only=True)
class ExperimentOptions:
    """The values of the command's options."""

    runs: int
    seconds: float
    stages: int
    transport: str
    messages: int
    message_bytes: int
    cpus: str | None
    seed: int
    alpha: float
    out: Path | None
    picture: Path | None
    command: tuple[str, ...]

    def workload(self, directory: Path, *, dry_run: bool) -> ExperimentWorkload:
        """Returns the user's command, or the pipeline compiled in that directory.

        Raises NotHere if the command or a C compiler is missing.
        """
        chosen = cpus_here(self.cpus)
        if self.command:
            check_command(self.command)
            return CommandWorkload(self.command, chosen if self.cpus else None)
        return Pipeline(
            program=Path("pipeline") if dry_run else compile_pipeline(directory),
            cpus=chosen,
            stages=self.stages,
            seconds=self.seconds,
            transport=self.transport,
            messages=self.messages,
            message_bytes=self.message_bytes,
        )


@click.command()
@click.option(
    "--runs", type=click.IntRange(FEWEST_RUNS), default=12, show_default=True, help="Runs per arm."
)
@click.option(
    "--seconds", type=RealRange(0.05), default=2.0, show_default=True, help="Time per run."
)
@click.option(
    "--stages", type=click.IntRange(2, 256), default=6, show_default=True, help="Threads."
)
@click.option(
    "--transport",
    type=click.Choice(["pipe", "futex"]),
    default="pipe",
    help="Transport of messages: pipe.",
)
@click.option(
    "--messages",
    type=click.IntRange(1, 1024),
    default=8,
    show_default=True,
    help="Messages in the ring.",
)
@click.option(
    "--bytes",
    "message_bytes",
    type=_count,
    default=16384,
    show_default=True,
    help="Size of a message.",
)
@click.option("--cpus", help="CPUs to pin to, like 0-3.  [default: those of this process]")
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Random seed of the order."
)
@click.option(
    "--alpha", type=RealRange(0, 1), default=0.05, show_default=True, help="Significance level."
)
@click.option("--out", type=_file, help="File for all results as JSON.")
@click.option("--picture", type=_file, help="File for a picture: .svg, .png or .html.")
@click.option("--dry-run", is_flag=True, help="Print the runs; run nothing.")
@json_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def experiment(as_json: bool, dry_run: bool, **given: Any) -> None:
    """Test whether pinning pays: tuned and not, pinned and not.

    Runs four arms in turns, and tests mean and variance. Each run is a pipeline of threads, or a
    COMMAND whose last line on stdout is a number; more is better. Tuned means 0 in
    /dev/cpu_dma_latency.

    \b
    Examples: vas affinity experiment --runs 12 --picture runs.svg
              vas affinity experiment --cpus 4-7 -- ./my-benchmark --short
    """
    options = ExperimentOptions(**given)
    if options.picture:
        check_name(options.picture)
    missing = tuning.why_not(_ROOT)
    plan = order(arms(tuning=missing is None), options.runs, options.seed)
    said = f"not available: {missing}" if missing else tuning.NAME
    with tempfile.TemporaryDirectory(prefix="vas-experiment-") as directory:
        work = options.workload(Path(directory), dry_run=dry_run)
        note(f"{work.describe()}\ntuned: {said}")
        if dry_run:
            note("would run: " + "; ".join(arm.name for arm in plan))
            return
        runs = _conduct(work, plan)
    result = ExperimentResult(
        work.describe(), work.metric, said, options.seed, *machine(), tuple(runs)
    )
    _write(result, options)
    if as_json:
        print_json(result.as_json(options.alpha))
    else:
        table.print_result(result, options.alpha)


def _conduct(work: ExperimentWorkload, plan: Sequence[ExperimentArm]) -> list[ExperimentRun]:
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeRemainingColumn())
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=hidden) as bar:
        task = bar.add_task("", total=len(plan))
        return conduct(_ROOT, work, plan, lambda _: bar.advance(task))


def _write(result: ExperimentResult, options: ExperimentOptions) -> None:
    if options.out:
        document = json.dumps(result.as_json(options.alpha), indent=1)
        write_atomically(options.out, document + "\n")
    if options.picture:
        write_picture(draw_arms(result), options.picture, "Runs by arm")
