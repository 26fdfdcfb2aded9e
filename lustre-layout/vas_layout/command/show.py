"""`vas layout show`: prints the layouts of files and the defaults of directories."""

from __future__ import annotations

from pathlib import Path

import click

from vas_core.cli import json_option, note
from vas_layout import views
from vas_layout.command.options import PATH
from vas_layout.errors import LayoutUnavailableError
from vas_layout.store import LayoutReader


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@json_option
def show(paths: tuple[Path, ...], as_json: bool) -> int:
    """Show the layout of files, and the default of directories.

    \b
    Example: vas layout show /lustre/input/part-00000 --json
    """
    reader, found, failed = LayoutReader(), [], 0
    for path in paths:
        try:
            found.append((path, reader.read(path)))
        except LayoutUnavailableError as unreadable:
            note(f"vas: {unreadable}")
            failed = 1
    views.print_layouts(found, as_json)
    return failed
