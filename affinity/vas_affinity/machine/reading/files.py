"""Reads files of sysfs and procfs: a missing file is None, an unreadable one is noted."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from vas_affinity.machine.cpulist import parse_cpulist, parse_cpumask
from vas_affinity.machine.snapshot import Unread
from vas_core.errors import BadInput

_MASKS = ("map", "_cpus", "_siblings", "affinity")
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ESRCH}


class Tree(Protocol):
    """The `/` of a machine: `vas_core.root.Root`, or `archive.TreeArchive`."""

    def read(self, relative: str) -> str | None: ...
    def names(self, relative: str) -> list[str]: ...
    def link(self, relative: str) -> Path | None: ...


@dataclass
class TreeFiles:
    """A tree, and the list of what could not be read from it so far."""

    root: Tree
    unread: list[Unread] = field(default_factory=list)

    def text(self, path: str) -> str | None:
        """Returns a file's text; None if it is missing, or cannot be read, which is noted."""
        try:
            text = self.root.read(path)
        except OSError as wrong:
            if wrong.errno not in _GONE:
                self.note(path, wrong.strerror or str(wrong))
            return None
        return text and text.rstrip("\n\0")  # some captures end files in a NUL

    def number(self, path: str) -> int | None:
        """Returns a file's integer; None as in `text`, and for another content, which is noted."""
        text = self.text(path)
        if not text or not text.strip():
            return None
        try:
            return int(text, 0)
        except ValueError:
            self.note(path, f"is not a number: {text[:40]!r}")
            return None

    def cpus(self, *paths: str) -> tuple[int, ...] | None:
        """Returns the CPUs in the first of these files that exists; None if none does.

        The file's name tells whether it holds a mask or a list.
        """
        for path in paths:
            text = self.text(path)
            if text is None:
                continue
            try:
                return parse_cpumask(text) if path.endswith(_MASKS) else parse_cpulist(text)
            except BadInput as wrong:
                self.note(path, wrong.what)
        return None

    def names(self, directory: str) -> list[str]:
        """Returns the names in a directory, sorted.

        Empty if it is missing, or cannot be read, which is noted.
        """
        try:
            return self.root.names(directory)
        except OSError as wrong:
            if wrong.errno not in _GONE:
                self.note(directory, wrong.strerror or str(wrong))
            return []

    def link(self, path: str) -> str | None:
        """Returns the last name of a link's target; None if it is not a link."""
        try:
            target = self.root.link(path)
        except OSError:
            return None
        return None if target is None else target.name

    def links(self, directory: str) -> Iterator[tuple[str, Path]]:
        """Yields the links in a directory, each with its target; without those that just ended."""
        for name in self.names(directory):
            try:
                target = self.root.link(f"{directory}/{name}")
            except OSError:
                continue
            if target is not None:
                yield name, target

    def note(self, what: str, why: str) -> None:
        """Notes once that something could not be read."""
        unread = Unread(what=what, why=why)
        if unread not in self.unread:
            self.unread.append(unread)
