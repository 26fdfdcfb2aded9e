"""`vas layout locality`: adds up how many bytes of files and trees each VM owns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from vas_core.cli import json_option, note
from vas_layout import views
from vas_layout.command.options import PATH, cluster_option, load_map, owners_of
from vas_layout.errors import LayoutUnavailableError
from vas_layout.locate import OwnershipTotals
from vas_layout.paths import is_directory, size_of, walk
from vas_layout.store import LayoutReader


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@cluster_option
@json_option
def locality(paths: tuple[Path, ...], map_file: Path | None, as_json: bool) -> int:
    """Show how many bytes each VM owns of files and trees.

    \b
    Example: vas layout locality /lustre/input --json
    """
    reader, total = LayoutReader(), OwnershipTotals(owners_of(load_map(map_file)))
    count = unreadable = 0
    for file in _files_of(paths, reader):
        try:
            _add(file, reader, total)
            count += 1
        except LayoutUnavailableError as refused:
            note(f"vas: {refused}")
            unreadable += 1
    if count or as_json:
        views.print_locality(total, count, as_json)
    return 1 if unreadable else 0


def _add(file: Path | LayoutUnavailableError, reader: LayoutReader, total: OwnershipTotals) -> None:
    if isinstance(file, LayoutUnavailableError):
        raise file
    size = size_of(file)
    if size:
        total.add(reader.read(file), size)


def _files_of(
    paths: tuple[Path, ...], reader: LayoutReader
) -> Iterator[Path | LayoutUnavailableError]:
    for path in paths:
        size_of(path)
        if is_directory(path):
            reader.refuse_other_file_systems(path)
            yield from walk(path)
        else:
            yield path
