"""`vas affinity`: every vCPU, I/O thread and interrupt on the right core."""

from __future__ import annotations

import click

from vas_core.lazy import Later, LazyGroup

_LATER: dict[str, Later] = {
    "experiment": Later(
        "vas_affinity.experiment.command:experiment",
        "Test whether pinning pays: tuned and not, pinned and not.",
    ),
    "plot": Later(
        "vas_affinity.pictures.command:plot", "Draw a recording: each thread's core over time."
    ),
    "record": Later(
        "vas_affinity.record.command:record",
        "Record which core each thread runs on, over time.",
    ),
}


@click.group(cls=LazyGroup, later=_LATER)
def affinity() -> None:
    """Place vCPUs, I/O threads and interrupts on cores, explained and drawn."""
