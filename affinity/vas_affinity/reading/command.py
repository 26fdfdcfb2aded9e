"""`vas affinity show`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.options import from_option, snapshot_of
from vas_affinity.reading.view import print_snapshot
from vas_core.cli import json_option, print_json


@click.command()
@from_option
@json_option
def show(source: Path | None, as_json: bool) -> None:
    """Show CPUs, memory, devices, interrupts, guests, threads.

    What could not be read stands at the end, with the reason.

    \b
    Examples: vas affinity show
              vas affinity show --from oss1.tar.bz2
              vas affinity show --from oss1.xml --json
    """
    snapshot = snapshot_of(source)
    if as_json:
        print_json(snapshot.model_dump(mode="json"))
    else:
        print_snapshot(snapshot)
