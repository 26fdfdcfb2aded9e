"""The command `vas guest apply`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from vas_core.cli import RealRange, json_option, note, print_json
from vas_core.options import dry_run
from vas_guest.as_json import differences_json
from vas_guest.compare import counts_from_a_start
from vas_guest.desired import DesiredGuest
from vas_guest.host import GuestHost
from vas_guest.options import connect_option, guest_options, path_type
from vas_guest.table import print_differences


@click.command()
@guest_options
@connect_option
@dry_run()
@click.option(
    "--image", type=path_type, metavar="QCOW2", help="Image to make the guest's first disk of."
)
@click.option("--start", is_flag=True, help="Start the guest now, and whenever its host boots.")
@click.option(
    "--wait",
    type=RealRange(min=1, max=7200),
    metavar="SECONDS",
    help="Wait until the agent of a guest that is started answers.",
)
@json_option
def apply(
    desired: DesiredGuest,
    connect: str | None,
    dry_run: bool,
    image: Path | None,
    start: bool,
    wait: float | None,
    as_json: bool,
) -> None:
    """Define a guest as the map has it, and read it back.

    Defines disks, pool of virtual functions, seed and domain. Never writes to an existing disk,
    and never stops a running guest: its new definition counts from its next start.

    \b
    Examples: vas guest apply vm1 --dry-run
              vas guest apply vm1 --image vas-guest.qcow2 --placement vm1.xml --start
              vas guest apply vm1 --start --wait 300
    """
    desired = replace(desired, image=image)
    host = GuestHost(connect)
    if dry_run:
        host.refuse_disks(desired)
    found = host.differences(desired) if dry_run else host.apply(desired)
    ran = host.is_running(desired)
    if start and not dry_run:
        host.start(desired)
        if wait and not ran:
            host.await_agent(desired, wait)
    if as_json:
        print_json(differences_json(desired, found, running=ran))
    elif found:
        print_differences(found)
    else:
        note(f"{desired.guest.name} is defined as the map has it")
    if ran and counts_from_a_start(found) and not dry_run:
        note(f"{desired.guest.name} runs: the changes count from its next start")
