"""Reads members of a job's jar, and refuses those that are too large."""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from vas_core.errors import BadInput
from vas_core.reading import open_given
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
_END_64 = struct.Struct("<4sQ2H2L4Q")
_END_64_MAGIC = b"PK\6\6"


def read_member(archive: zipfile.ZipFile, member: str | zipfile.ZipInfo, jar: Path) -> bytes:
    """Returns a member's bytes; empty if it is not there.

    Raises BadInput for more than 4 MiB, and one of BROKEN_JAR for a damaged jar.
    """
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


@contextmanager
def open_jar(jar: Path) -> Iterator[zipfile.ZipFile]:
    """Opens a jar that a user named.

    Raises BadInput if it is a device or its list of members is too long, and one of BROKEN_JAR
    (OSError, BadZipFile and others) if it cannot be read or is not a jar.
    """
    with os.fdopen(open_given(jar), "rb") as stream:
        _check_directory(stream, jar)
        with zipfile.ZipFile(stream) as archive:
            yield archive


def _check_directory(stream: BinaryIO, jar: Path) -> None:
    """Checks the size of a jar's list of members, which zipfile reads whole. Raises BadInput."""
    length = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, length - _LONGEST_END - _END_64.size - _LOCATOR_BYTES))
    tail = stream.read()
    # zipfile's own order: the record without a comment, else the last one.
    at = len(tail) - _END.size
    if at < 0 or tail[at : at + 4] != _END_MAGIC or tail[-2:] != b"\0\0":
        at = tail.rfind(_END_MAGIC)
    if at < 0 or at + _END.size > len(tail):
        raise zipfile.BadZipFile("File is not a zip file")
    size = _size_of_many(tail[:at], jar) or _END.unpack_from(tail, at)[5]
    if size > _MOST_OF_DIRECTORY:
        what = f"the list of its members has more than {format_size(_MOST_OF_DIRECTORY)}"
        raise BadInput(what, where=str(jar), hint=_SPLIT)
    stream.seek(0)


def _size_of_many(before: bytes, jar: Path) -> int | None:
    """The size in the second record of a jar of more than 65,535 members (APPNOTE.TXT, 4.3.14)."""
    if not before[-_LOCATOR_BYTES:].startswith(_LOCATOR_MAGIC):
        return None
    record = before[-_LOCATOR_BYTES - _END_64.size : -_LOCATOR_BYTES]
    if len(record) < _END_64.size or not record.startswith(_END_64_MAGIC):
        raise BadInput("the end of its list of members is damaged", where=str(jar), hint=_SPLIT)
    return int(_END_64.unpack(record)[8])
