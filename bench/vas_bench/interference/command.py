"""`vas bench interference`."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import click
from pydantic import JsonValue

from vas_bench.arms.rounds import run_seconds
from vas_bench.arms.systems import ARM_OF
from vas_bench.interference import fio
from vas_bench.interference.cgroups import made
from vas_bench.interference.kept import Kept
from vas_bench.interference.patterns import ALONE, ARMS, PATTERNS, SHOWN
from vas_bench.interference.site import DIRECTORY, Site
from vas_bench.interference.sizes import Sizes, sizes
from vas_bench.interference.turns import Turn, draw_turns, missing
from vas_bench.interference.verdict import COLUMNS, LOAD_COLUMNS, Verdict, verdict
from vas_bench.results.environment import environment, lab_versions
from vas_bench.results.systems import System
from vas_core.cli import SizeType, json_option, note, print_json, print_table
from vas_core.durations import format_duration
from vas_core.errors import NotHere
from vas_core.progress import Step, Steps
from vas_core.root import Root
from vas_core.sizes import format_size
from vas_lab.disk import check_disk, free_bytes
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.spec import find_java
from vas_lab.state import default_directory
from vas_lab.terasort import Sizes as Cut
from vas_lab.terasort import TeraSort
from vas_yarn.jars import find_hadoop, find_plugins

_LAB = "interference"
_START, _PREPARE = "start the lab", "make the job's input and the clients' files"
# Input, map output, what reducers fetch of it, output; and the clients' files on top.
_COPIES = 4


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=6, show_default=True)
@click.option("--warm-up", type=click.IntRange(0), default=1, show_default=True, help="Rounds.")
@click.option(
    "--seconds",
    type=click.IntRange(1),
    default=15,
    show_default=True,
    help="How long each pattern is measured.",
)
@click.option(
    "--size", type=SizeType(), default="1G", show_default=True, help="Of the TeraSort's input."
)
@click.option("--hosts", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option(
    "--system",
    type=click.Choice(list(ARM_OF)),
    default="vas",
    show_default=True,
    help="How the TeraSort is run.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the order.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the turns in this file; go on from those that are in it.",
)
@click.option("--dry-run", is_flag=True, help="Say what would run and how long it takes.")
@json_option
def interference(
    rounds: int,
    warm_up: int,
    seconds: int,
    size: int,
    hosts: int,
    system: System,
    seed: int,
    resume: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure what YARN costs the storage service beside it.

    fio reads and writes as the service's clients do: alone, with TeraSort in a loop on the same
    host, and with TeraSort in a cgroup as large as a guest. Every round has each arm once, in an
    order drawn by lot. Needs root, for cgroups and the page cache.

    \b
    Examples: vas bench interference --dry-run
              vas bench interference --resume turns.json
              vas bench interference --rounds 1 --warm-up 0 --seconds 5 --size 64M --json
    """
    root = Root()
    here = sizes(hosts, os.cpu_count() or 1)
    turns = draw_turns(rounds=rounds, warm_up=warm_up, seed=seed)
    if dry_run:
        _say(turns, here, seconds, size)
        return
    if shutil.which(fio.PROGRAM) is None:
        raise NotHere("fio is not installed", hint="run `vas doctor` for the package")
    settings = {"seconds": seconds, "size": size, "hosts": hosts, "system": system, "seed": seed}
    kept = Kept({**settings, **here.as_dict(), **_made_of(root)}, resume)
    if missing(turns, kept.turns):
        _play(root, turns, kept, here, seconds=seconds, size=size, hosts=hosts, system=system)
    wanted = {turn.key for turn in turns}
    _print(verdict([turn for turn in kept.turns if turn.key in wanted]), here, as_json)


def _made_of(root: Root) -> dict[str, JsonValue]:
    """What turns must have in common beside the options."""
    build = hashlib.sha256(find_plugins().read_bytes()).hexdigest()
    versions: dict[str, JsonValue] = {**lab_versions(find_hadoop(), find_java())}
    return {"environment": environment(root), "versions": versions, "build": build}


def _steps(turns: Sequence[Turn], seconds: int, size: int) -> list[Step]:
    """What is to be done, with the seconds it takes on two quiet cores."""
    gib = size / (1 << 30)
    measured = len(PATTERNS) * (seconds + 1) + 5
    # A job starts before, and the last one ends after: half of one is left on the average.
    beside = 10 + run_seconds(gib) / 2
    found = [Step(_START, 25), Step(_PREPARE, 15 + 25 * gib)]
    found += [Step(turn.title, measured + (0 if turn.arm == ALONE else beside)) for turn in turns]
    return found


def _say(turns: Sequence[Turn], here: Sizes, seconds: int, size: int) -> None:
    steps = _steps(turns, seconds, size)
    print_table(("STEP", "SECONDS"), ((s.name, f"{s.expected_seconds:.0f}") for s in steps))
    total = format_duration(sum(step.expected_seconds for step in steps))
    note(f"about {total} on two quiet cores (estimated)")
    note(_in_words(here))


def _in_words(here: Sizes) -> str:
    host, guest, files = map(format_size, (here.host_bytes, here.guest_bytes, here.files_bytes))
    cpus = f"{here.guest_cpus} CPU{'s' if here.guest_cpus > 1 else ''}"
    return f"a host of {host}, of which a guest has {guest} and {cpus}; clients' files of {files}"


def _play(
    root: Root,
    turns: Sequence[Turn],
    kept: Kept,
    here: Sizes,
    *,
    seconds: int,
    size: int,
    hosts: int,
    system: System,
) -> None:
    directory = default_directory(_LAB)
    check_disk(free_bytes(directory), size=size + here.files_bytes, copies=_COPIES)
    cut = Cut.of(size, hosts)
    left = missing(turns, kept.turns)
    steps = Steps.show(_steps(left, seconds, size), directory / "interference-seconds.json")
    with steps as progress, made(root, here) as groups:
        with progress.step(_START):
            lab = Lab.start(LabOptions(state_dir=directory, hosts=hosts))
        with lab:
            job = TeraSort(lab, cut, f"{DIRECTORY}/terasort")
            site = Site(lab, groups, here, job, ARM_OF[system], seconds, root)
            with progress.step(_PREPARE):
                site.prepare()
            for turn in left:
                with progress.step(turn.title):
                    kept.add(site.play(turn))


def _print(found: Verdict, here: Sizes, as_json: bool) -> None:
    if as_json:
        print_json({**found.as_json(), "sizes": here.as_dict(), "shown": SHOWN})
        return
    print_table(COLUMNS, found.rows())
    click.echo()
    print_table(LOAD_COLUMNS, found.load_rows())
    note(_in_words(here))
    for arm, meaning in ARMS.items():
        note(f"{arm}: {meaning}")
    for line in SHOWN:
        note(line)
