"""The command `vas image build`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from vas_core.cli import json_option, note, print_json
from vas_core.repository import REPOSITORY
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_image.build.builder import BuildOrder, ImageBuilder, build, command_of
from vas_image.definition import System
from vas_image.image import DISK

BUILD = REPOSITORY / "build/image"


@click.command("build")
@click.option(
    "--system",
    type=click.Choice([one.value for one in System]),
    default=System.DEBIAN_12.value,
    show_default=True,
    help="Operating system of the guest.",
)
@click.option(
    "--builder",
    type=click.Choice([one.value for one in ImageBuilder]),
    default=ImageBuilder.MKOSI.value,
    show_default=True,
    help="Program that builds: mkosi (a disk that boots by itself), quick (mmdebstrap, for tests).",
)
@click.option("--mirror", metavar="URL", help="Source of packages; {snapshot} is the pinned date.")
@click.option(
    "--security-mirror", metavar="URL", help="Source of Debian's security updates, with --mirror."
)
@click.option(
    "--tools-tree",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIRECTORY",
    help="Debian 13 tree whose mkosi is used instead of this machine's.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIRECTORY",
    help="Directory of the image; default: build/image/SYSTEM-BUILDER of the clone.",
)
@click.option("--dry-run", is_flag=True, help="Print the builder's command; build nothing.")
@json_option
def build_command(
    system: str,
    builder: str,
    mirror: str | None,
    security_mirror: str | None,
    tools_tree: Path | None,
    output: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Build the guest image.

    The directory gets the disk, its kernel and initrd, a bill of materials (CycloneDX), check
    sums, and a description (image.json). An existing image is replaced when the new one is
    complete.

    \b
    Examples: vas image build
              vas image build --system rocky-9 --output /var/lib/vas/image
              vas image build --tools-tree /var/lib/vas/tools
              vas image build --builder quick --mirror 'https://snapshot.example/debian/{snapshot}'
    """
    place = (output or BUILD / f"{system}-{builder}").absolute()
    tools = tools_tree and tools_tree.absolute()
    order = BuildOrder(System(system), ImageBuilder(builder), place, mirror, security_mirror, tools)
    if dry_run:
        click.echo(shlex.join(command_of(order, Path("TREE"), Path("OUTPUT"))))
        return
    made = build(order, BUILD / f"{system}-{builder}.seconds.json")
    if as_json:
        print_json({"directory": str(place), **made.model_dump(mode="json")})
    else:
        size = format_size((place / DISK).stat().st_size)
        note(f"{place}: {size}, {counted(made.packages, 'package')}, {counted(made.jars, 'jar')}")
        note(f"boot it: `vas image check {place}`")
