"""Finds the paths in a captured tree that match a pattern, with bounds and within the tree.

A caller opens the paths that it gets without further checks. So a link that is absolute, or leads
above the tree's top, matches nothing: the kernel would follow it out of the tree. (`reading.py`
follows such links itself, as if the tree were `/`.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from re import compile as compile_pattern

from vas_core.errors import BadInput
from vas_core.reading import LeadsOut, open_place

# The largest trees that are searched, /proc and /etc of a server, have less than a tenth of it.
MOST_ENTRIES = 1 << 20
# The deepest directory of sysfs is about 30 levels down; each level costs an open file.
MOST_LEVELS = 100
_NOT_A_DIRECTORY = (FileNotFoundError, NotADirectoryError, PermissionError)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def glob_inside(top: Path, pattern: str) -> list[Path]:
    """Returns the paths below `top` that match, sorted; `**` stands for directories at any depth.

    `**` follows no link; a wildcard also matches a link that leads to nothing within the tree.
    Raises BadInput for links in a circle, for more than MOST_ENTRIES entries to look at and for
    more than MOST_LEVELS levels of directories; OSError where the tree cannot be read.
    """
    search = _Search(top, pattern)
    found = [""]
    for part in pattern.split("/"):
        found = [path for parent in found for path in search.matches(parent, part)]
    last = pattern.rpartition("/")[2]
    is_listed = _is_wildcard(last) and last != "**"
    return sorted({top / path for path in found if search.is_inside(path, is_listed)})


@dataclass
class _Search:
    """One search; `looked_at` counts directory entries."""

    top: Path
    pattern: str
    looked_at: int = 0

    def matches(self, parent: str, part: str) -> Iterator[str]:
        """Yields what one part of the pattern matches in a directory, relative to the top."""
        if part == "**":
            yield from self._directories(parent)
        elif _is_wildcard(part):
            matching = compile_pattern(translate(part)).fullmatch
            yield from (_join(parent, name) for name, _ in self._entries(parent) if matching(name))
        else:
            yield _join(parent, part)

    def is_inside(self, path: str, is_listed: bool) -> bool:
        """Returns whether a path is in the tree; `is_listed` if its directory has that name."""
        try:
            os.close(open_place(self.top, path, within=True))
        except LeadsOut:
            return False
        except _NOT_A_DIRECTORY:
            return is_listed
        return True

    def _directories(self, parent: str) -> Iterator[str]:
        left = [(parent, 0)]
        while left:
            directory, level = left.pop()
            if level > MOST_LEVELS:
                what = f"has more than {MOST_LEVELS} levels of directories"
                raise BadInput(what, where=str(self.top / parent))
            yield directory
            entries = self._entries(directory)
            left += [(_join(directory, name), level + 1) for name, is_real in entries if is_real]

    def _entries(self, directory: str) -> list[tuple[str, bool]]:
        """Returns the names in a directory, and whether each is a directory and not a link."""
        try:
            place = open_place(self.top, directory, within=True)
        except _NOT_A_DIRECTORY:
            return []
        try:
            descriptor = os.open(f"/proc/self/fd/{place}", _DIRECTORY)
        except _NOT_A_DIRECTORY:
            return []
        finally:
            os.close(place)
        try:
            with os.scandir(descriptor) as entries:
                return sorted((each.name, self._is_directory(each)) for each in entries)
        finally:
            os.close(descriptor)

    def _is_directory(self, entry: os.DirEntry[str]) -> bool:
        self.looked_at += 1
        if self.looked_at > MOST_ENTRIES:
            what = f"has more than {MOST_ENTRIES} entries to compare with {self.pattern}"
            raise BadInput(what, where=str(self.top))
        return entry.is_dir(follow_symlinks=False)


def _is_wildcard(part: str) -> bool:
    return any(character in part for character in "*?[")


def _join(parent: str, name: str) -> str:
    return f"{parent}/{name}" if parent else name
