"""The command `vas guest xml`."""

from __future__ import annotations

import click

from vas_guest.desired import DesiredGuest
from vas_guest.domain import to_text
from vas_guest.options import guest_options


@click.command()
@guest_options
def xml(desired: DesiredGuest) -> None:
    """Print a guest's domain as libvirt's XML.

    Does not ask libvirt: the same map, settings and placement give the same bytes.

    \b
    Example: vas guest xml vm1 --cluster site.yaml --placement vm1.xml
    """
    click.echo(to_text(desired.domain), nl=False)
