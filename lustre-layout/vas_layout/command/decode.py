"""`vas layout decode`: prints `lustre.lov` bytes as JSON."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from vas_core.cli import json_option, print_json
from vas_core.errors import BadInput
from vas_core.reading import read_limited
from vas_layout.as_json import layout_json
from vas_layout.codec import decode
from vas_layout.command.options import PATH
from vas_layout.errors import LayoutError
from vas_layout.hexdump import attribute_bytes
from vas_layout.model import MAX_XATTR_BYTES

# Hexadecimal text with spaces is some three times as long as its bytes.
_MAX_TEXT_BYTES = 8 * MAX_XATTR_BYTES


@click.command(name="decode")
@click.argument("file", type=PATH)
@json_option
def decode_command(file: Path, as_json: bool) -> None:
    """Print `lustre.lov` bytes as JSON.

    The bytes are raw or hexadecimal; FILE may be - for stdin.

    \b
    Examples: vas layout decode lustre-layout/vectors/pfl.bin
              getfattr -n lustre.lov -e hex /lustre/f | vas layout decode -
    \f
    Raises BadInput if the bytes are not a layout.
    """
    try:
        print_json(layout_json(decode(attribute_bytes(_given(file)))))
    except LayoutError as wrong:
        raise BadInput(wrong.what, where="<stdin>" if str(file) == "-" else str(file)) from wrong


def _given(file: Path) -> bytes:
    if str(file) != "-":
        try:
            return read_limited(file, _MAX_TEXT_BYTES)
        except OSError as wrong:
            raise BadInput(f"cannot be read: {wrong.strerror}", where=str(file)) from wrong
    given = sys.stdin.buffer.read(_MAX_TEXT_BYTES + 1)
    if len(given) > _MAX_TEXT_BYTES:
        raise LayoutError(f"oversized: more than {_MAX_TEXT_BYTES} bytes given")
    return given
