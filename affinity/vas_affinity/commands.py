"""`vas affinity`: every vCPU, I/O thread and interrupt on the right core."""

from __future__ import annotations

import click

from vas_core.lazy import Later, LazyGroup

_LATER: dict[str, Later] = {
    "emit": Later(
        "vas_affinity.emit.command:emit",
        "Print a plan as libvirt XML, virsh commands or a script.",
    ),
}


@click.group(cls=LazyGroup, later=_LATER)
def affinity() -> None:
    """Place vCPUs, I/O threads and interrupts on cores, explained and drawn."""
