"""The command `vas guest verify`."""

from __future__ import annotations

import click

from vas_core.cli import json_option, note, print_json
from vas_core.errors import ExitStatus
from vas_guest.as_json import differences_json
from vas_guest.desired import DesiredGuest
from vas_guest.host import GuestHost
from vas_guest.options import connect_option, guest_options
from vas_guest.table import print_differences


@click.command()
@guest_options
@connect_option
@json_option
def verify(desired: DesiredGuest, connect: str | None, as_json: bool) -> int:
    """Compare a guest's definition with the map.

    Compares disks, pool of virtual functions, seed and domain; status 3 if something differs.

    \b
    Example: vas guest verify vm1
    """
    host = GuestHost(connect)
    found = host.differences(desired)
    if as_json:
        print_json(differences_json(desired, found, running=host.is_running(desired)))
    elif found:
        print_differences(found)
    else:
        note(f"{desired.guest.name} is defined as the map has it")
    return ExitStatus.DIFFERENT if found else ExitStatus.DONE
