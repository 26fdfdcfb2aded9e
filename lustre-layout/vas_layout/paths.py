"""Questions about paths whose answer may be "no permission": pathlib raises that as it is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from vas_core.errors import VasError
from vas_layout.reasons import unavailable


def is_directory(path: Path) -> bool:
    """Whether it is a directory, as far as one may see."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError:
        return False


def size_of(path: Path) -> int:
    """The size of a file in bytes. Raises LayoutUnavailableError."""
    try:
        return path.stat().st_size
    except OSError as error:
        raise unavailable(error, str(path)) from error


def files_below(directory: Path) -> Iterator[Path]:
    """All regular files of a tree, sorted, symbolic links not followed. Raises VasError."""

    def refuse(error: OSError) -> None:
        raise VasError(error.strerror or "cannot be read", where=error.filename) from error

    for parent, directories, names in os.walk(directory, onerror=refuse):
        directories.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if _is_regular(path):
                yield path


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        # Removed since it was listed.
        return False
    except OSError as error:
        raise unavailable(error, str(path)) from error
