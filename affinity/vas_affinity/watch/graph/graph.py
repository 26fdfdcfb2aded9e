"""The command `vas affinity graph`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.serving import Servers
from vas_affinity.options import jvm_names_option
from vas_affinity.watch.graph.table import print_cost, print_graph
from vas_affinity.watch.graph.watch import ThreadWatch
from vas_affinity.watch.thread_keys import ThreadKeys, find_processes
from vas_core.cli import RealRange, json_option, print_json
from vas_core.files import write_atomically
from vas_core.root import Root

_ROOT = Root()
_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option(
    "--process", "-p", multiple=True, required=True, help="PID, or pattern of names and arguments."
)
@click.option(
    "--seconds",
    type=RealRange(0.2),
    default=10.0,
    show_default=True,
    help="Time to watch.",
)
@click.option(
    "--budget",
    type=RealRange(0.01, 100),
    default=1.0,
    show_default=True,
    help="CPU time that watching may use, in % of one CPU.",
)
@click.option("--out", type=_file, help="File for the JSON that `vas affinity plan` reads.")
@jvm_names_option
@json_option
def graph(
    process: tuple[str, ...],
    seconds: float,
    budget: float,
    out: Path | None,
    jvm_names: bool,
    as_json: bool,
) -> None:
    """Find which threads talk to which, and how much.

    Wake-ups are counted in the kernel (BPF) if it allows that; else they are estimated from what
    threads wait for. A thread that a disk's completed requests wake serves it. `unread` says what
    could not be known. Changes nothing.

    \b
    Examples: vas affinity graph -p NodeManager -p oss --seconds 30 --out graph.json
              vas affinity graph -p 4711 --json
    """
    pids = find_processes(_ROOT, process)
    asked = SnapshotRequest(processes=process, jvm_names=jvm_names)
    snapshot = read_snapshot(_ROOT, asked=asked)
    keys = ThreadKeys.of(_ROOT, snapshot.threads)
    devices = Servers(TreeFiles(_ROOT), snapshot.devices, snapshot.interrupts)
    columns = (TextColumn("watching"), BarColumn(), TextColumn("{task.completed:.0f} s"))
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=hidden) as bar:
        task = bar.add_task("", total=seconds)
        watch = ThreadWatch(_ROOT, pids, keys, budget / 100, devices.of_block)
        found = watch.run(seconds, lambda now: bar.update(task, completed=now))
    if out:
        write_atomically(out, json.dumps(found.as_json(), indent=1, ensure_ascii=False) + "\n")
    if as_json:
        print_json(found.as_json())
    elif not out:
        print_graph(found)
    print_cost(found)
