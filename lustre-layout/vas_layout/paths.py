"""Reads properties of paths, with errors as LayoutUnavailableError rather than OSError."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from vas_layout.errors import LayoutUnavailableError
from vas_layout.reasons import unavailable


def is_directory(path: Path) -> bool:
    """Returns whether a path is a directory; False if the path cannot be examined."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError:
        return False


def size_of(path: Path) -> int:
    """Returns the size of a file in bytes. Raises LayoutUnavailableError if it cannot be read."""
    try:
        return path.stat().st_size
    except OSError as error:
        raise unavailable(error, str(path)) from error


def files_below(directory: Path) -> Iterator[Path]:
    """Yields all regular files of a tree, sorted, without following symbolic links.

    Raises LayoutUnavailableError at the first directory that cannot be read.
    """
    for found in walk(directory):
        if isinstance(found, LayoutUnavailableError):
            raise found
        yield found


def walk(directory: Path) -> Iterator[Path | LayoutUnavailableError]:
    """Yields the regular files of a tree, sorted, and an error for each unreadable entry."""
    refused: list[LayoutUnavailableError] = []

    def refuse(error: OSError) -> None:
        refused.append(unavailable(error, str(error.filename)))

    for parent, directories, names in os.walk(directory, onerror=refuse):
        yield from refused
        refused.clear()
        directories.sort()
        for name in sorted(names):
            path = Path(parent, name)
            try:
                if _is_regular(path):
                    yield path
            except LayoutUnavailableError as unreadable:
                yield unreadable
    yield from refused


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        # Removed since it was listed.
        return False
    except OSError as error:
        raise unavailable(error, str(path)) from error
