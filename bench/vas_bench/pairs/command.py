"""The command `vas affinity pairs`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import click
from pydantic import JsonValue

from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_affinity.machine.snapshot import Snapshot
from vas_bench.engine.observe import Observer
from vas_bench.engine.play import Budget, Estimates, Expected, note_left, play_shown, refuse_invalid
from vas_bench.engine.resume import Environment
from vas_bench.engine.rounds import Round, missing, runs_of
from vas_bench.options import RoundsRequest, rounds_options
from vas_bench.pairs.conduct import METRIC, PairSubject, PairTable, Uploads, identity
from vas_bench.pairs.disk import disk_under
from vas_bench.pairs.places import interrupt_cpu, pairs_of
from vas_bench.pinning.design import FEWEST_RUNS
from vas_bench.pinning.tables import print_answers, print_arms
from vas_bench.pinning.workload import compile_workload
from vas_bench.results.environment import environment
from vas_bench.results.record import BenchRun
from vas_core.cli import RealRange, json_option, note, print_json
from vas_core.root import Root

_ROOT = Root()


@click.command()
@click.option(
    "--runs",
    "rounds",
    type=click.IntRange(FEWEST_RUNS),
    default=12,
    show_default=True,
    help="Runs of each pair.",
)
@click.option(
    "--seconds", type=RealRange(0.05), default=2.0, show_default=True, help="Seconds of a run."
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=".",
    help="Directory on the disk that is written to, 128 MiB in all [default: this one].",
)
@click.option(
    "--interrupt-cpu",
    type=click.IntRange(0),
    help="CPU that handles the disk's interrupts [default: found].",
)
@click.option(
    "--alpha",
    type=RealRange(0, 1),
    default=0.05,
    show_default=True,
    help="Level of significance.",
)
@rounds_options
@click.option("--dry-run", is_flag=True, help="Print what would run.")
@json_option
def pairs(
    as_json: bool,
    dry_run: bool,
    session: RoundsRequest,
    seconds: float,
    directory: Path,
    interrupt_cpu: int | None,
    alpha: float,
) -> None:
    """Test where two service threads should run, by a disk's interrupts.

    Two uploads at once, as a DataNode takes them, at each pair of places that this machine has, in
    rounds. [DS] is the CPU of the disk's interrupts, [DC] one that shares its cache, [DM] its
    memory alone, [DN] neither: the table of the paper "Dynamic core affinity for HDFS".

    \b
    Examples: vas affinity pairs --directory /srv/data
              vas affinity pairs --interrupt-cpu 3 --runs 20 --resume pairs.jsonl
    """
    snapshot = read_snapshot(_ROOT, asked=SnapshotRequest(seconds=0))
    cpu = _found_cpu(snapshot, directory) if interrupt_cpu is None else interrupt_cpu
    places, lacking = pairs_of(snapshot.topology, cpu, os.sched_getaffinity(0))
    note("; ".join(f"{one.name} on CPUs {' and '.join(map(str, one.cpus))}" for one in places[1:]))
    for name, why in lacking.items():
        note(f"not available: {name}: {why}")
    settings: dict[str, JsonValue] = {"seconds": seconds, "interrupt_cpu": cpu}
    drawn = session.draw([identity(each, settings) for each in places])
    if dry_run:
        note("would run: " + "; ".join(each.experiment.arm.name for each in drawn))
        return
    made = _measured(drawn, session, settings, directory, seconds)
    valid = [run for run in made if not run.invalid]
    if valid:
        _print(PairTable(valid), alpha, as_json)
    refuse_invalid(made)


def _found_cpu(snapshot: Snapshot, directory: Path) -> int:
    disk = disk_under(_ROOT, directory)
    cpu = interrupt_cpu(snapshot, disk)
    note(f"{disk}: its interrupts are handled on CPU {cpu}")
    return cpu


def _measured(
    drawn: Sequence[Round[PairSubject]],
    session: RoundsRequest,
    settings: dict[str, JsonValue],
    directory: Path,
    seconds: float,
) -> list[BenchRun]:
    """Makes the runs that the file of --resume lacks; returns all runs of the drawn rounds."""

    def here() -> Environment:
        return environment(_ROOT)

    observer = Observer("pairs", "vas affinity pairs", here(), here)
    with session.store(settings) as store, tempfile.TemporaryDirectory() as work:
        source = files(__package__).joinpath("upload.c")
        hint = "install gcc"
        program = compile_workload(source, Path(work), where="affinity pairs", hint=hint)
        uploads = Uploads(program, directory, seconds)
        left = missing(drawn, store.content.runs)
        ended = play_shown(
            lambda it: observer.observe(it, lambda: uploads.observe(_ROOT, it.experiment.arm)),
            left,
            store.append,
            learned=Path(work) / "seconds.json",
            estimates=Estimates(left, [Expected(0.0, seconds + 1)] * len(left)),
            budget=Budget(session.budget),
        )
        note_left(ended.left)
        return runs_of(drawn, store.runs)


def _print(table: PairTable, alpha: float, as_json: bool) -> None:
    if as_json:
        print_json(table.as_json(alpha))
        return
    print_arms(METRIC, table.summaries())
    click.echo()
    print_answers(table.answers(), alpha)
    others = f"{table.others_cpus:.2f} CPUs on average"
    note(f"other processes used {others}; the clients of the uploads are not among them")
