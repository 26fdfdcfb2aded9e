"""The options of `vas affinity` that say which machine, and its snapshot."""

from __future__ import annotations

import os
from pathlib import Path

import click

from vas_affinity.cpulist import cpus_asked, format_cpulist
from vas_affinity.reading import Asked, read_snapshot, read_source
from vas_affinity.snapshot import Snapshot
from vas_core.cli import RealRange, note
from vas_core.errors import BadInput
from vas_core.root import Root

_LONG_SECONDS = 2

from_option = click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="DIR|TAR|XML|JSON",
    help="A captured machine instead of this one.",
)
seconds_option = click.option(
    "--seconds",
    type=RealRange(min=0, max=3600),
    default=1.0,
    show_default=True,
    help="How long rates and CPU use are measured; 0 not at all.",
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
    "--connect", metavar="URI", help="Where libvirt is.  [default: as virsh has it]"
)


def cpus_here(text: str | None) -> tuple[int, ...]:
    """The CPUs of `--cpus`, or all that this process may use. Raises BadInput for any other."""
    allowed = os.sched_getaffinity(0)
    chosen = tuple(sorted(allowed)) if text is None else cpus_asked(text, where="--cpus")
    if not allowed.issuperset(chosen):
        hint = f"give some of {format_cpulist(allowed)}"
        what = f"not all are CPUs that this process may use: {text}"
        raise BadInput(what, where="--cpus", hint=hint)
    return chosen


def snapshot_of(source: Path | None, asked: Asked | None = None) -> Snapshot:
    """The captured machine's, or this one's if `source` is None.

    Of a captured machine nothing can be asked. Raises BadInput.
    """
    asked = asked or Asked()
    if source:
        if asked.processes:
            raise BadInput("a captured machine runs nothing", where="--process")
        return read_source(source)
    if asked.seconds > _LONG_SECONDS:
        note(f"measuring for {asked.seconds:g} s")
    return read_snapshot(Root(), asked=asked)
