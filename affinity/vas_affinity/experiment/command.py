"""The command `vas affinity experiment`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from vas_affinity.cpulist import parse_cpulist
from vas_affinity.experiment import tuning, views
from vas_affinity.experiment.conduct import Result, conduct, machine
from vas_affinity.experiment.design import arms, order
from vas_affinity.experiment.figure import draw_arms
from vas_affinity.experiment.workload import Command, Pipeline, Workload, compile_pipeline
from vas_affinity.pictures.page import check_name, write_picture
from vas_core.cli import json_option, note, print_json
from vas_core.errors import BadInput
from vas_core.files import write_atomically
from vas_core.root import Root

_ROOT = Root()
_file = click.Path(path_type=Path, dir_okay=False)
_count = click.IntRange(1)


@click.command()
@click.option("--runs", type=click.IntRange(2), default=12, show_default=True, help="Of each arm.")
@click.option("--seconds", type=click.FloatRange(0.05), default=2.0, show_default=True)
@click.option("--stages", type=click.IntRange(2, 256), default=6, show_default=True)
@click.option("--transport", type=click.Choice(["pipe", "futex"]), default="pipe")
@click.option("--messages", type=click.IntRange(1, 1024), default=8, show_default=True)
@click.option("--bytes", "message_bytes", type=_count, default=16384, show_default=True)
@click.option("--cpus", help="CPUs to pin to, like 0-3 [default: those this process may use].")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--alpha", type=click.FloatRange(0, 1), default=0.05, show_default=True)
@click.option("--out", type=_file, help="Write all results as JSON.")
@click.option("--picture", type=_file, help="Draw the runs: .svg, .png or .html.")
@click.option("--dry-run", is_flag=True, help="Say what would run.")
@json_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def experiment(
    runs: int,
    seconds: float,
    stages: int,
    transport: str,
    messages: int,
    message_bytes: int,
    cpus: str | None,
    seed: int,
    alpha: float,
    out: Path | None,
    picture: Path | None,
    dry_run: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Test whether pinning pays: tuned and not, pinned and not.

    Four arms in turns, mean and variance tested. It runs a pipeline of threads, or a COMMAND whose
    last line on stdout is a number, more of it being better. Tuned is /dev/cpu_dma_latency at 0.

    \b
    Examples: vas affinity experiment --runs 12 --picture runs.svg
              vas affinity experiment --cpus 4-7 -- ./my-benchmark --short
    """
    if picture:
        check_name(picture)
    chosen = _cpus(cpus)
    with tempfile.TemporaryDirectory(prefix="vas-experiment-") as directory:
        work: Workload
        if command:
            work = Command(command, chosen if cpus else None)
        else:
            program = Path("pipeline") if dry_run else compile_pipeline(Path(directory))
            work = Pipeline(program, chosen, stages, seconds, transport, messages, message_bytes)
        _conduct(work, runs, seed, alpha, out, picture, dry_run, as_json)


def _conduct(
    work: Workload,
    runs: int,
    seed: int,
    alpha: float,
    out: Path | None,
    picture: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    missing = tuning.why_not(_ROOT)
    plan = order(arms(tuning=missing is None), runs, seed)
    said = f"not available: {missing}" if missing else tuning.NAME
    note(work.describe())
    note(f"tuned: {said}")
    if dry_run:
        note("would run: " + "; ".join(arm.name for arm in plan))
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeRemainingColumn())
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=hidden) as bar:
        task = bar.add_task("", total=len(plan))
        done = conduct(_ROOT, work, plan, lambda _: bar.advance(task))
    result = Result(work.describe(), work.metric, said, seed, *machine(), tuple(done))
    if out:
        write_atomically(out, json.dumps(result.as_json(alpha), indent=1) + "\n")
    if picture:
        write_picture(draw_arms(result), picture, "Runs by arm")
    if as_json:
        print_json(result.as_json(alpha))
    else:
        views.print_result(result, alpha)


def _cpus(text: str | None) -> tuple[int, ...]:
    allowed = os.sched_getaffinity(0)
    chosen = parse_cpulist(text) if text else tuple(sorted(allowed))
    if not chosen or not allowed.issuperset(chosen):
        raise BadInput(f"not all are CPUs that this process may use: {text}", where="--cpus")
    return chosen
