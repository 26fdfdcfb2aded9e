"""Finds the program that `hadoop jar JAR WORDS...` starts, and where generic options go."""

from __future__ import annotations

import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.sizes import format_size

_MANIFEST = "META-INF/MANIFEST.MF"
# A class of this name in a class file's constants: its first argument is a program's name.
_DRIVER = b"org/apache/hadoop/util/ProgramDriver"
# Both are some kilobytes; a file that claims more is not read.
_MOST_BYTES = 4 << 20
# What zipfile lets through of a jar that is broken. RuntimeError: a password or compression that it
# lacks; ValueError: a name that is not UTF-8; MemoryError: a dictionary of 4 GiB.
_BROKEN = (
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


@dataclass(frozen=True)
class JarEntry:
    """The class that starts, where it is named, and the words that stand before the options."""

    main: str
    is_of_manifest: bool
    leading: tuple[str, ...]
    """The class, if the manifest names none; the program, if that class is a driver of several."""
    words: tuple[str, ...]
    """The words behind: the program's own arguments, and the generic options they begin with."""


def find_entry(jar: Path, words: Sequence[str]) -> JarEntry:
    """Reads the jar as Hadoop's RunJar does: Main-Class of its manifest, else the first word.

    Raises BadInput if the jar cannot be read, or if neither names a class.
    """
    try:
        with zipfile.ZipFile(jar) as archive:
            named = main_class(_read(archive, _MANIFEST).decode("utf-8", "replace"))
            if named is None and not words:
                hint = "give one behind the jar: `vas submit JAR CLASS ...`"
                raise BadInput("its manifest names no Main-Class", where=str(jar), hint=hint)
            main = named or words[0].replace("/", ".")
            before = 0 if named else 1
            is_driver = _DRIVER in _read(archive, f"{main.replace('.', '/')}.class")
    except _BROKEN as wrong:
        what = f"cannot be read as a jar: {str(wrong) or 'too little memory'}"
        raise BadInput(what, where=str(jar), hint="name a jar of this machine") from wrong
    if is_driver and len(words) > before and not words[before].startswith("-"):
        before += 1
    return JarEntry(main, named is not None, tuple(words[:before]), tuple(words[before:]))


def main_class(manifest: str) -> str | None:
    """Returns the Main-Class of a manifest's main section; None without one.

    A line that begins with a space continues the one before (JAR file specification).
    """
    text = re.sub(r"\r\n?", "\n", manifest)
    main_section = text.split("\n\n", 1)[0].replace("\n ", "")
    found = re.search(r"^Main-Class:[ \t]*(\S+)[ \t]*$", main_section, re.MULTILINE | re.IGNORECASE)
    return found[1].replace("/", ".") if found else None


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    """A member's bytes; none if it is not there. Raises BadInput if there are too many."""
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
