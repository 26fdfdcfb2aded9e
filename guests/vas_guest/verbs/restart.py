"""The command `vas guest restart`."""

from __future__ import annotations

import click

from vas_core.cli import RealRange, note
from vas_guest.desired import DesiredGuest
from vas_guest.host import GuestHost
from vas_guest.options import connect_option, guest_options


@click.command()
@guest_options
@connect_option
@click.option(
    "--timeout",
    type=RealRange(min=1, max=7200),
    metavar="SECONDS",
    default=300,
    show_default=True,
    help="Longest wait until the guest has shut down.",
)
@click.option(
    "--wait",
    type=RealRange(min=1, max=7200),
    metavar="SECONDS",
    help="Wait until the guest's agent answers.",
)
def restart(desired: DesiredGuest, connect: str | None, timeout: float, wait: float | None) -> None:
    """Restart a guest with its present definition.

    Shuts it down and starts it. A reboot by the guest itself would keep the old definition. A guest
    that does not shut down in time keeps running.

    \b
    Example: vas guest restart vm1 --wait 300
    """
    host = GuestHost(connect)
    host.restart(desired, timeout)
    if wait:
        host.await_agent(desired, wait)
    note(f"{desired.guest.name} runs with its present definition")
