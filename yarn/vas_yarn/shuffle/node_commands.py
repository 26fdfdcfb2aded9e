"""Prints a node's own map output, for `vas shuffle ls`, `inspect` and `verify`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from vas_core.cli import note, print_json
from vas_core.errors import ExitStatus
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_yarn.shuffle.node_output import node_attempts, node_reducers, verify_on_node
from vas_yarn.shuffle.verify import OutputDamage

local_option = click.option(
    "--local",
    "local_dirs",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Directory of yarn.nodemanager.local-dirs, to look at map output on this node's disks;"
    " repeatable.",
)


def list_local(job: str, local_dirs: Sequence[Path], as_json: bool) -> int:
    """Prints a job's map attempts with output on this node; returns the exit status.

    Raises BadInput if there are none, VasError or OSError if a disk fails.
    """
    found = node_attempts(job, local_dirs)
    if as_json:
        print_json([each.as_json() for each in found])
    else:
        rows = (
            (each.name, each.damage or "written", len(each.segments) or "-", size)
            for each in found
            for size in [format_size(each.stored_bytes) if not each.damage else "-"]
        )
        print_table(("ATTEMPT", "STATE", "PARTITIONS", "STORED"), rows)
        _say_what_is_seen()
    return ExitStatus.DIFFERENT if any(each.damage for each in found) else ExitStatus.DONE


def inspect_local(job: str, local_dirs: Sequence[Path], as_json: bool) -> int:
    """Prints what each reducer of a job reads from this node; returns the exit status.

    Raises BadInput if no map output is there, VasError or OSError if a disk fails.
    """
    found = node_attempts(job, local_dirs)
    rows = node_reducers(found)
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        cells = (
            (r.partition, r.maps, format_size(r.raw_bytes), format_size(r.stored_bytes))
            for r in rows
        )
        print_table(("REDUCER", "MAPS", "RAW", "STORED"), cells)
        _say_what_is_seen()
    return ExitStatus.DIFFERENT if any(each.damage for each in found) else ExitStatus.DONE


def local_damage(
    job: str, local_dirs: Sequence[Path], *, encrypted: bool
) -> tuple[int, list[OutputDamage]]:
    """Returns how many map outputs of a job lie on this node, and all damage in them.

    `encrypted`: only lengths are compared. Raises BadInput if no map output is there, VasError or
    OSError if a disk fails.
    """
    found = node_attempts(job, local_dirs)
    damages = [d for each in found for d in verify_on_node(each, encrypted=encrypted)]
    return len(found), damages


def _say_what_is_seen() -> None:
    note(
        "vas: only the maps that ran on this node are seen; which of them succeeded the application"
        " master knows, and stock's index counts no records"
    )
