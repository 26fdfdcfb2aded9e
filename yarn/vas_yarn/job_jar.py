"""Reads members of a job's jar, with a bound."""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

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
_MOST_OF_DIRECTORY = 16 << 20
_SPLIT = "name the jar of the job's own classes"
_END = struct.Struct("<4s4H2LH")
_END_MAGIC = b"PK\5\6"
_LONGEST_END = _END.size + (1 << 16)
_LOCATOR_BYTES = 20
_LOCATOR_MAGIC = b"PK\6\7"


def read_member(archive: zipfile.ZipFile, member: str | zipfile.ZipInfo, jar: Path) -> bytes:
    """Returns a member's bytes; none if it is not there. Raises BadInput if there are too many."""
    try:
        with archive.open(member) as stream:
            read = stream.read(_MOST_BYTES + 1)
    except KeyError:
        return b""
    if len(read) > _MOST_BYTES:
        name = member if isinstance(member, str) else member.filename
        what = f"its {name} has more than {format_size(_MOST_BYTES)}"
        raise BadInput(what, where=str(jar), hint="no compiler or build makes such a jar")
    return read


def check_directory(stream: BinaryIO, jar: Path) -> None:
    """Checks the size of a jar's list of members, which zipfile reads whole. Raises BadInput.

    The record at a zip's end has it (APPNOTE.TXT, 4.3.16). A zip of more than 65,535 members has
    a second one, and is refused.
    """
    length = stream.seek(0, os.SEEK_END)
    start = stream.seek(max(0, length - _LONGEST_END - _LOCATOR_BYTES))
    tail = stream.read(_LONGEST_END + _LOCATOR_BYTES)
    # zipfile's own order: the record without a comment, else the last one.
    at = len(tail) - _END.size
    if at < 0 or tail[at : at + 4] != _END_MAGIC or tail[-2:] != b"\0\0":
        at = tail.rfind(_END_MAGIC)
    if at < 0 or at + _END.size > len(tail):
        raise zipfile.BadZipFile("File is not a zip file")
    size = _END.unpack_from(tail, at)[5]
    locator = tail[max(0, at - _LOCATOR_BYTES) : at]
    if start + at >= _LOCATOR_BYTES and locator.startswith(_LOCATOR_MAGIC):
        raise BadInput("has more than 65,535 members", where=str(jar), hint=_SPLIT)
    if size > _MOST_OF_DIRECTORY:
        what = f"the list of its members has more than {format_size(_MOST_OF_DIRECTORY)}"
        raise BadInput(what, where=str(jar), hint=_SPLIT)
    stream.seek(0)
