"""The command `vas affinity experiment`."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from pydantic import JsonValue

from vas_affinity.options import cpus_here
from vas_bench.engine.play import refuse_invalid
from vas_bench.options import RoundsRequest, rounds_options
from vas_bench.pinning import tuning
from vas_bench.pinning.conduct import PinningResult, identity, machine, observe
from vas_bench.pinning.design import arms
from vas_bench.pinning.figure import draw_arms
from vas_bench.pinning.session import (
    alpha_option,
    play_experiment,
    runs_option,
    seconds_option,
)
from vas_bench.pinning.tables import print_answers, print_arms, print_counts
from vas_bench.pinning.workload import (
    PinningWorkload,
    Pipeline,
    UserCommand,
    check_command,
    compile_pipeline,
)
from vas_core.cli import json_option, note, print_json
from vas_core.files import write_atomically
from vas_core.root import Root
from vas_core.svg import check_name, write_picture

_ROOT = Root()
_file = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, kw_only=True)
class PinningOptions:
    """The options of `vas affinity experiment` that the user gave."""

    seconds: float
    stages: int
    transport: str
    messages: int
    message_bytes: int
    cpus: str | None
    alpha: float
    out: Path | None
    picture: Path | None
    command: tuple[str, ...]

    def workload(self, directory: Path, *, dry_run: bool) -> PinningWorkload:
        """Returns the user's command, or without one the pipeline, compiled in that directory.

        Raises BadInput for CPUs that this process may not use, NotHere without the
        command's program or a C compiler, CommandFailed if the compiler fails.
        """
        chosen = cpus_here(self.cpus)
        if self.command:
            check_command(self.command)
            return UserCommand(self.command, chosen if self.cpus else None)
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
@runs_option
@seconds_option
@click.option(
    "--stages",
    type=click.IntRange(2, 256),
    default=6,
    show_default=True,
    help="Threads of the pipeline.",
)
@click.option(
    "--transport",
    type=click.Choice(["pipe", "futex"]),
    default="pipe",
    show_default=True,
    help="Means by which messages are handed on.",
)
@click.option(
    "--messages",
    type=click.IntRange(1, 1024),
    default=8,
    show_default=True,
    help="Number of messages under way.",
)
@click.option(
    "--bytes",
    "message_bytes",
    type=click.IntRange(1),
    default=16384,
    show_default=True,
    help="Bytes of a message.",
)
@click.option("--cpus", help="CPUs to pin to, like 0-3 [default: those this process may use].")
@alpha_option
@click.option("--out", type=_file, help="Write all results as JSON.")
@click.option("--picture", type=_file, help="Draw the runs: .svg, .png or .html.")
@rounds_options
@click.option("--dry-run", is_flag=True, help="Print what would run.")
@json_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def experiment(as_json: bool, dry_run: bool, session: RoundsRequest, **given: Any) -> None:
    """Test whether pinning pays: tuned and not, pinned and not.

    Four arms in rounds, mean and variance tested. It runs a pipeline of threads, or a COMMAND whose
    last line on stdout is a number, more of it being better. Tuned is /dev/cpu_dma_latency at 0.
    `vas bench report` reads the file of --resume.

    \b
    Examples: vas affinity experiment --runs 12 --picture runs.svg
              vas affinity experiment --cpus 4-7 -- ./my-benchmark --short
    """
    options = PinningOptions(**given)
    if options.picture:
        check_name(options.picture)
    lacking = tuning.why_not(_ROOT)
    all_arms = arms(tuning=lacking is None)
    said = f"not available: {lacking}" if lacking else tuning.NAME
    with tempfile.TemporaryDirectory(prefix="vas-experiment-") as directory:
        work = options.workload(Path(directory), dry_run=dry_run)
        note(f"{work.describe()}\ntuned: {said}")
        argv: list[JsonValue] = [*options.command]
        settings: dict[str, JsonValue]
        settings = {"about": work.describe(), "argv": argv, "tuned": said}
        drawn = session.draw([identity(arm, work.metric, settings) for arm in all_arms])
        if dry_run:
            note("would run: " + "; ".join(each.experiment.arm.name for each in drawn))
            return
        made = play_experiment(
            drawn,
            session,
            settings,
            lambda arm: observe(_ROOT, work, arm),
            root=_ROOT,
            names=("pinning", "vas affinity experiment"),
            seconds=options.seconds,
        )
    valid = tuple(run for run in made if not run.invalid)
    if valid:
        kept = (work.describe(), work.metric, said, session.seed)
        result = PinningResult(*kept, *machine(), valid)
        _write(result, options)
        _print(result, options.alpha, as_json)
    refuse_invalid(made)


def _print(result: PinningResult, alpha: float, as_json: bool) -> None:
    if as_json:
        print_json(result.as_json(alpha))
    else:
        _print_tables(result, alpha)


def _write(result: PinningResult, options: PinningOptions) -> None:
    if options.out:
        document = json.dumps(result.as_json(options.alpha), indent=1)
        write_atomically(options.out, document + "\n")
    if options.picture:
        write_picture(draw_arms(result), options.picture, "Runs by arm")


def _print_tables(result: PinningResult, alpha: float) -> None:
    """Prints the arms, the tests, and the conclusions that they allow."""
    print_arms(result.metric, result.summaries())
    click.echo()
    print_answers(result.tests(), alpha)
    if counts := result.counts():
        click.echo()
        print_counts(counts)
    note(
        f"{result.cpus} CPUs; other processes used {result.others_cpus:.2f} of them on average; "
        f"effects on the mean are in % of the arm that is neither tuned nor pinned"
    )
