"""Files of sysfs and procfs: missing ones are None, unreadable ones are noted."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from vas_affinity.cpulist import parse_cpulist, parse_cpumask
from vas_affinity.snapshot import Unread
from vas_core.errors import BadInput

_MASKS = ("map", "_cpus", "_siblings", "affinity")
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ESRCH}


class Tree(Protocol):
    """`/` of a machine: `vas_core.root.Root`, or `archive.Archive`."""

    def read(self, relative: str) -> str | None: ...
    def names(self, relative: str) -> list[str]: ...
    def link(self, relative: str) -> Path | None: ...


@dataclass
class Files:
    """A tree, and what of it could not be read so far."""

    root: Tree
    unread: list[Unread] = field(default_factory=list)

    def text(self, path: str) -> str | None:
        """A file's text; None if it is not there (any more) or, noted, cannot be read."""
        try:
            text = self.root.read(path)
        except OSError as wrong:
            if wrong.errno not in _GONE:
                self.note(path, wrong.strerror or str(wrong))
            return None
        return text and text.rstrip("\n\0")  # some captures end files in a NUL

    def number(self, path: str) -> int | None:
        """A file's whole number; None as in `text`, and for another content, which is noted."""
        text = self.text(path)
        if not text or not text.strip():
            return None
        try:
            return int(text, 0)
        except ValueError:
            self.note(path, f"is no number: {text[:40]!r}")
            return None

    def cpus(self, *paths: str) -> tuple[int, ...] | None:
        """The CPUs of the first of these that is there; its name says whether it is a mask."""
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
        """What is in a directory, sorted; empty if it is not there or, noted, cannot be read."""
        try:
            return self.root.names(directory)
        except OSError as wrong:
            if wrong.errno not in _GONE:
                self.note(directory, wrong.strerror or str(wrong))
            return []

    def link(self, path: str) -> str | None:
        """The last name of what a link points to; None if it is no link."""
        try:
            target = self.root.link(path)
        except OSError:
            return None
        return None if target is None else target.name

    def links(self, directory: str) -> Iterator[tuple[str, Path]]:
        """The links in a directory and where they point."""
        for name in self.names(directory):
            target = self.root.link(f"{directory}/{name}")
            if target is not None:
                yield name, target

    def note(self, what: str, why: str) -> None:
        """Says that something could not be read, once."""
        unread = Unread(what=what, why=why)
        if unread not in self.unread:
            self.unread.append(unread)
