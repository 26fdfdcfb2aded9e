"""The command `vas guest remove`."""

from __future__ import annotations

import click

from vas_core.cli import json_option, note, print_json
from vas_core.options import dry_run
from vas_guest.desired import DesiredGuest
from vas_guest.host import GuestHost
from vas_guest.options import connect_option, guest_options


@click.command()
@guest_options
@connect_option
@dry_run()
@json_option
def remove(desired: DesiredGuest, connect: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove a guest that is shut down; its disks stay.

    Removes its definition, its seed and its console log.

    \b
    Example: vas guest remove vm1
    """
    host = GuestHost(connect)
    there = host.is_there(desired) if dry_run else host.remove(desired)
    if as_json:
        print_json({"guest": desired.guest.name, "removed": there})
    elif not there:
        note(f"{desired.guest.name} is not defined")
    else:
        words = "would be removed" if dry_run else "is removed"
        note(f"{desired.guest.name} {words}; its disks stay")
