"""The command `vas guest seed`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_core.cli import note
from vas_core.seed import write_seed
from vas_guest.desired import DesiredGuest
from vas_guest.options import guest_options, path_type


@click.command()
@guest_options
@click.option("--output", type=path_type, metavar="ISO", help="File of the seed's CD.")
def seed(desired: DesiredGuest, output: Path | None) -> None:
    """Print a guest's cloud-init seed, or write its CD.

    \b
    Examples: vas guest seed vm1
              vas guest seed vm1 --output vm1.iso
    """
    if not desired.settings.authorized_keys:
        note("vas: nobody can log in to this guest: authorized_keys in its settings has no key")
    if output:
        write_seed(output, desired.seed)
        return
    for name, text in desired.seed.items():
        click.echo(f"==> {name} <==\n{text}")
