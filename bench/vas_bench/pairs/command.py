"""The command `vas affinity pairs`."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

import click
from pydantic import JsonValue

from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_bench.engine.play import refuse_invalid
from vas_bench.engine.rounds import Round
from vas_bench.options import RoundsRequest, rounds_options
from vas_bench.pairs.conduct import METRIC, PairSubject, PairTable, Uploads, identity
from vas_bench.pairs.disk import disk_under
from vas_bench.pairs.places import PairPlaces, interrupt_of, pairs_of
from vas_bench.pinning.session import (
    alpha_option,
    play_experiment,
    runs_option,
    seconds_option,
)
from vas_bench.pinning.tables import print_answers, print_arms
from vas_bench.pinning.workload import compile_workload
from vas_bench.results.record import BenchRun
from vas_core.cli import json_option, note, print_json
from vas_core.root import Root

_ROOT = Root()
_LOOK_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """The options of `vas affinity pairs` that say what is run."""

    seconds: float
    checksums: int
    directory: Path
    interrupt_cpu: int | None


@click.command()
@runs_option
@seconds_option
@click.option(
    "--checksums",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Times that the checksums are computed, as work for each byte.",
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
@alpha_option
@rounds_options
@click.option("--dry-run", is_flag=True, help="Print what would run.")
@json_option
def pairs(as_json: bool, dry_run: bool, session: RoundsRequest, alpha: float, **given: Any) -> None:
    """Test where two service threads belong, beside a disk.

    Two uploads at once, as a DataNode takes them, at each pair of places that this machine has, in
    rounds. [DS] is the CPU of the disk's interrupts, [DC] one that shares its cache, [DM] its
    memory alone, [DN] neither: the table of the paper "Dynamic core affinity for HDFS".

    \b
    Examples: vas affinity pairs --directory /srv/data
              vas affinity pairs --interrupt-cpu 3 --runs 20 --resume pairs.jsonl
    """
    options = PairOptions(**given)
    places, settings, interrupt = _prepared(options)
    drawn = session.draw([identity(each, settings) for each in places])
    if dry_run:
        note("would run: " + "; ".join(each.experiment.arm.name for each in drawn))
        return
    made = _measured(drawn, session, settings, options, interrupt)
    valid = [run for run in made if not run.invalid]
    if valid:
        _print(PairTable([each.name for each in places], valid), alpha, as_json)
    refuse_invalid(made)


def _prepared(
    options: PairOptions,
) -> tuple[list[PairPlaces], dict[str, JsonValue], int | None]:
    """Returns the pairs that can be measured, what their runs share, and the disk's interrupt."""
    directory, cpu, interrupt = options.directory.resolve(), options.interrupt_cpu, None
    with nullcontext() if cpu is not None else _written(directory):
        seconds = 0.0 if cpu is not None else _LOOK_SECONDS
        snapshot = read_snapshot(_ROOT, asked=SnapshotRequest(seconds=seconds))
    disk = ""
    if cpu is None:
        disk = disk_under(_ROOT, directory)
        line = interrupt_of(snapshot, disk)
        cpu, interrupt = line.effective[0], line.number
        note(f"{disk}: its interrupt {interrupt} is handled on CPU {cpu}")
    places, lacking = pairs_of(snapshot.topology, cpu, os.sched_getaffinity(0))
    note("; ".join(f"{one.name} on CPUs {' and '.join(map(str, one.cpus))}" for one in places[1:]))
    for name, why in lacking.items():
        note(f"not available: {name}: {why}")
    shared: dict[str, JsonValue] = {
        "seconds": options.seconds,
        "checksums": options.checksums,
        "directory": str(directory),
        "disk": disk,
        "interrupt_cpu": cpu,
    }
    return places, shared, interrupt


@contextmanager
def _written(directory: Path) -> Iterator[None]:
    """Has the disk interrupt during the body: a thread writes a file, and waits for the disk."""
    ended = threading.Event()

    def write(file: IO[bytes]) -> None:
        while not ended.is_set():
            file.seek(0)
            file.write(bytes(1 << 16))
            os.fsync(file.fileno())

    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        writer = threading.Thread(target=write, args=(file,))
        writer.start()
        try:
            yield
        finally:
            ended.set()
            writer.join()


def _measured(
    drawn: Sequence[Round[PairSubject]],
    session: RoundsRequest,
    settings: dict[str, JsonValue],
    options: PairOptions,
    interrupt: int | None,
) -> list[BenchRun]:
    with tempfile.TemporaryDirectory() as work:
        source = files(__package__).joinpath("upload.c")
        hint = "install gcc"
        program = compile_workload(source, Path(work), where="affinity pairs", hint=hint)
        directory, seconds = options.directory, options.seconds
        uploads = Uploads(program, directory, seconds, options.checksums, interrupt)
        return play_experiment(
            drawn,
            session,
            settings,
            lambda pair: uploads.observe(_ROOT, pair),
            root=_ROOT,
            names=("pairs", "vas affinity pairs"),
            seconds=seconds + 1,
        )


def _print(table: PairTable, alpha: float, as_json: bool) -> None:
    if as_json:
        print_json(table.as_json(alpha))
        return
    print_arms(METRIC, table.summaries())
    click.echo()
    print_answers(table.answers(), alpha)
    others = f"{table.others_cpus:.2f} CPUs on average"
    note(f"other processes used {others}; the clients of the uploads are not among them")
