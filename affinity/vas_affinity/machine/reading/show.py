"""The command `vas affinity show`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.machine.reading.host import SnapshotRequest
from vas_affinity.machine.reading.table import print_snapshot
from vas_affinity.options import (
    connect_option,
    from_option,
    jvm_names_option,
    process_option,
    seconds_option,
    snapshot_of,
)
from vas_core.cli import json_option, print_json


@click.command()
@from_option
@seconds_option
@process_option
@connect_option
@jvm_names_option
@json_option
def show(
    source: Path | None,
    seconds: float,
    processes: tuple[str, ...],
    connect: str | None,
    jvm_names: bool,
    as_json: bool,
) -> None:
    """Show CPUs, memory, devices, interrupts, guests, threads.

    Shows this machine, or a captured one. Changes nothing. Groups of CPUs are named by their
    lowest CPU. The end lists what could not be read, with the reason.

    \b
    Examples: vas affinity show
              vas affinity show --seconds 10 --process NodeManager --process ^ll_ost
              vas affinity show --from oss1.tar.bz2
              vas affinity show --json > oss1.json && vas affinity show --from oss1.json
    """
    snapshot = snapshot_of(source, SnapshotRequest(seconds, processes, connect, jvm_names))
    if as_json:
        print_json(snapshot.model_dump(mode="json"))
    else:
        print_snapshot(snapshot)
