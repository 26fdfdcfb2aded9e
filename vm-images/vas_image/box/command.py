"""`vas image box`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_core.cli import note
from vas_image.box.pack import pack_box

NAME = "vas/guest"


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The box; default: vas-guest.box beside the image's files.",
)
def box(directory: Path, output: Path | None) -> None:
    """Pack an image as a Vagrant box for libvirt.

    The image has to boot by itself (mkosi). `vagrant box add` needs no network for it.

    \b
    Example: vas image box build/image/debian-12-mkosi
    """
    file = output or directory / "vas-guest.box"
    pack_box(directory, file)
    note(f"{file}: add it by `vagrant box add --name {NAME} {file}`")
