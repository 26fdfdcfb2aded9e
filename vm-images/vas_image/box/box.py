"""The command `vas image box`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_core.cli import note
from vas_core.progress import Step, Steps
from vas_core.reading import read_limited
from vas_image.box.pack import pack_box, public_key
from vas_image.build.build import BUILD

NAME = "vas/guest"
_KEY_BYTES = 64 << 10
_PACK = Step("pack the box", 30)


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    required=True,
    metavar="FILE.pub",
    help="Public SSH key that may log in as vas (make one: ssh-keygen -t ed25519).",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File of the box; default: vas-guest.box next to the image's files.",
)
def box(directory: Path, key: Path, output: Path | None) -> None:
    """Pack an image as a Vagrant box for libvirt.

    `vagrant box add` needs no network for the box. Nobody can log in to an image; the box has a
    seed that lets the owner of one key in.

    \b
    Example: vas image box build/image/debian-12-mkosi --key ~/.ssh/id_ed25519.pub
    """
    file = output or directory / "vas-guest.box"
    public = public_key(read_limited(key, _KEY_BYTES).decode(errors="replace"))
    with Steps.show([_PACK], BUILD / "box.seconds.json") as steps, steps.step(_PACK.name):
        pack_box(directory, file, public)
    note(f"{file}: add it by `vagrant box add --name {NAME} {file}`")
