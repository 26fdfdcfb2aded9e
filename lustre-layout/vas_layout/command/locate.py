"""`vas layout locate`: shows the OST, OSS and VM of each byte range of a file."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from vas_core.cli import SizeType, json_option
from vas_core.errors import BadInput
from vas_layout import views
from vas_layout.command.options import PATH, cluster_option, load_map, owners_of
from vas_layout.locate import owned_spans, split_owners
from vas_layout.paths import is_directory, size_of
from vas_layout.store import LayoutReader

# A sparse file may have 8 EiB in stripes of 64 KiB: more than memory holds, and nobody reads.
_MOST_RANGES = 500_000


@click.command()
@click.argument("path", type=PATH)
@click.option("--offset", type=SizeType(), default=0, help="First byte [default: 0].")
@click.option("--length", type=SizeType(), help="Number of bytes [default: to the file's end].")
@click.option(
    "--split",
    type=SizeType(),
    help="Size of a split; prints the VM that owns most of each split, which YARN is told.",
)
@cluster_option
@json_option
def locate(
    path: Path,
    offset: int,
    length: int | None,
    split: int | None,
    map_file: Path | None,
    as_json: bool,
) -> None:
    """Show the OST, OSS and VM of each byte range of a file.

    \b
    Examples: vas layout locate /lustre/input/part-00000 --offset 1G --length 256M
              vas layout locate /lustre/input/part-00000 --split 128M
    \f
    Raises BadInput for an empty split, a directory, and too many ranges, LayoutUnavailableError if
    the file or its layout cannot be read.
    """
    if split == 0:
        raise BadInput("--split: a split must not be empty", hint="give 128M or so")
    if is_directory(path):
        raise BadInput(
            "is a directory", where=str(path), hint="`vas layout locality` adds up trees"
        )
    size = size_of(path)
    rest = max(0, size - offset) if length is None else length
    layout, owners = LayoutReader().read(path), owners_of(load_map(map_file))
    found = (
        split_owners(layout, size, split, owners, offset=offset, length=rest)
        if split
        else owned_spans(layout, offset, rest, owners)
    )
    rows = list(islice(found, _MOST_RANGES + 1))
    if len(rows) > _MOST_RANGES:
        what = f"has more than {_MOST_RANGES} ranges"
        raise BadInput(
            what, where=str(path), hint="give --offset and --length, or a larger --split"
        )
    views.print_owned_spans(path, size, rows, as_json)
