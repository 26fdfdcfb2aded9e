"""Reads members of a job's jar, with a bound."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib

from vas_core.errors import BadInput
from vas_core.sizes import format_size

# What zipfile lets through of a jar that is broken. RuntimeError: a password or compression that it
# lacks; ValueError: a name that is not UTF-8; MemoryError: a dictionary of 4 GiB.
BROKEN_JAR = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    MemoryError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
# A manifest and a class have some kilobytes; a file that claims more is not read.
_MOST_BYTES = 4 << 20


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Returns a member's bytes; none if it is not there. Raises BadInput if there are too many."""
    try:
        with archive.open(name) as stream:
            read = stream.read(_MOST_BYTES + 1)
    except KeyError:
        return b""
    if len(read) > _MOST_BYTES:
        what = f"its {name} has more than {format_size(_MOST_BYTES)}"
        raise BadInput(
            what, where=str(archive.filename), hint="no compiler or build makes such a jar"
        )
    return read
