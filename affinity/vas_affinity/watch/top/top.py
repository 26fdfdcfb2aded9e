"""The command `vas affinity top`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click
from rich.console import Console
from rich.live import Live

from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_affinity.machine.snapshot import DeviceKind, Snapshot
from vas_affinity.options import jvm_names_option
from vas_affinity.watch.thread_keys import ThreadKeys, find_processes
from vas_affinity.watch.top.as_json import row_json
from vas_affinity.watch.top.keyboard import keys, quit_within
from vas_affinity.watch.top.looking import Looking, all_processes
from vas_affinity.watch.top.rows import nearest_interrupt
from vas_affinity.watch.top.table import COLUMNS, cells, frame
from vas_core.cli import RealRange, json_option, note, print_json
from vas_core.root import Root
from vas_core.table import print_table

_ROOT = Root()


@click.command()
@click.option("--process", "-p", multiple=True, help="PID, or a pattern.  [default: all]")
@click.option(
    "--interval",
    type=RealRange(0.1),
    default=2.0,
    show_default=True,
    help="Seconds between samples.",
)
@click.option("--once", is_flag=True, help="Print one frame, as if stdout is not a terminal.")
@jvm_names_option
@json_option
def top(
    process: tuple[str, ...], interval: float, once: bool, jvm_names: bool, as_json: bool
) -> None:
    """Watch threads: core, CPU, migrations, distance from IRQ.

    The distance is that from the core of the nearest storage interrupt. Ends at q or Ctrl-C.

    \b
    Examples: vas affinity top
              vas affinity top -p NodeManager --once --json
    """
    snapshot = read_snapshot(_ROOT, asked=SnapshotRequest(processes=process, jvm_names=jvm_names))
    nearest = nearest_interrupt(snapshot.topology, _interrupt_cpus(snapshot))
    found = find_processes(_ROOT, process) if process else []
    pids: Callable[[], Sequence[int]] = lambda: found or all_processes(_ROOT)  # noqa: E731
    looking = Looking(_ROOT, pids, nearest, ThreadKeys.of(_ROOT, snapshot.threads))
    looking.rows()
    if as_json or once or not sys.stdout.isatty():
        quit_within(interval)
        _print(looking, as_json)
        if not nearest:
            note("FROM IRQ is not known: the core of no storage interrupt is known")
        return
    _live(looking, interval)


def _live(looking: Looking, interval: float) -> None:
    console = Console()
    with keys(), Live(console=console, screen=True, auto_refresh=False) as live:
        try:
            while not quit_within(interval):
                live.update(frame(looking.rows(), console.height), refresh=True)
        except KeyboardInterrupt:
            return


def _print(looking: Looking, as_json: bool) -> None:
    rows = looking.rows()
    if as_json:
        print_json([row_json(row) for row in rows])
    else:
        print_table(COLUMNS, map(cells, rows))


def _interrupt_cpus(snapshot: Snapshot) -> set[int]:
    storage = (one for one in snapshot.interrupts if one.kind is DeviceKind.STORAGE)
    return {cpu for one in storage for cpu in one.effective}
