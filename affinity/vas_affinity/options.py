"""Options that several commands of `vas affinity` share, and the snapshot that they ask for."""

from __future__ import annotations

import os
from pathlib import Path

import click

from vas_affinity.machine.cpulist import cpus_asked, format_cpulist
from vas_affinity.machine.reading import SnapshotRequest, read_snapshot, read_source
from vas_affinity.machine.snapshot import Snapshot
from vas_core.cli import RealRange, note
from vas_core.errors import BadInput
from vas_core.root import Root

_LONG_SECONDS = 2

from_option = click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="DIR|TAR|XML|JSON",
    help="Captured machine to read instead of this one.",
)
seconds_option = click.option(
    "--seconds",
    type=RealRange(min=0, max=3600),
    default=1.0,
    show_default=True,
    help="Time for measuring rates and CPU use; 0 measures nothing.",
)
process_option = click.option(
    "--process",
    "-p",
    "processes",
    multiple=True,
    metavar="PID|REGEX",
    help="Processes whose threads matter, by name or arguments. Can be given again.",
)
connect_option = click.option(
    "--connect", metavar="URI", help="URI of libvirt.  [default: virsh's own]"
)


def cpus_here(text: str | None) -> tuple[int, ...]:
    """Returns the CPUs of `--cpus`, or all that this process may use if `text` is None.

    Raises BadInput for a CPU that this process may not use.
    """
    allowed = os.sched_getaffinity(0)
    chosen = tuple(sorted(allowed)) if text is None else cpus_asked(text, where="--cpus")
    if not allowed.issuperset(chosen):
        hint = f"give some of {format_cpulist(allowed)}"
        what = f"not all are CPUs that this process may use: {text}"
        raise BadInput(what, where="--cpus", hint=hint)
    return chosen


jvm_names_option = click.option(
    "--jvm-names",
    is_flag=True,
    help="Ask JVMs for their threads' full names; this stops each JVM for some milliseconds.",
)


def snapshot_of(source: Path | None, asked: SnapshotRequest | None = None) -> Snapshot:
    """Returns the snapshot of a captured machine, or of this one if `source` is None.

    Raises BadInput if processes of a captured machine are requested: it runs nothing.
    """
    asked = asked or SnapshotRequest()
    if source:
        if asked.processes:
            raise BadInput("a captured machine runs nothing", where="--process")
        return read_source(source)
    if asked.seconds > _LONG_SECONDS:
        note(f"measuring for {asked.seconds:g} s")
    return read_snapshot(Root(), asked=asked)
