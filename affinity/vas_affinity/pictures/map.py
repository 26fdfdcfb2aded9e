"""The command `vas affinity map`."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from vas_affinity.options import from_option, snapshot_of
from vas_affinity.pictures.cells import host_map
from vas_affinity.pictures.map_svg import draw_map
from vas_affinity.pictures.map_text import print_map
from vas_affinity.placement_file import read_placement
from vas_core.cli import note
from vas_core.svg import check_name, write_picture

_WIDE = 160


@click.command("map")
@from_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of the picture: .svg, .png, or .html with details of each CPU.",
)
@click.argument(
    "plan", type=click.Path(path_type=Path, dir_okay=False, exists=True), required=False
)
def map_command(source: Path | None, out: Path | None, plan: Path | None) -> None:
    """Draw a host's CPUs: roles, interrupts, guests.

    With a PLAN, as `vas affinity plan --json` prints it, draws its roles and pins; without, the
    present state.

    \b
    Examples: vas affinity map
              vas affinity map --from oss1.tar.bz2 plan.json --out oss1.html
    """
    if out:
        check_name(out)
    host = host_map(snapshot_of(source), read_placement(plan) if plan else None)
    if out:
        write_picture(draw_map(host), out, host.title)
        return
    terminal = Console(highlight=False)
    console = terminal if terminal.is_terminal else Console(highlight=False, width=_WIDE)
    print_map(host, console)
    for one in host.snapshot.unread:
        note(f"not known: {one.what}: {one.why}")
