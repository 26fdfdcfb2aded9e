"""The file-system root that sysfs and procfs are read under."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Root:
    """A directory that stands for `/`, so that tests read captured trees.

    Paths are given without the leading slash: `root.read("sys/fs/lustre/version")`.
    """

    directory: Path = Path("/")

    def path(self, relative: str) -> Path:
        """The real path of `relative`. Raises ValueError if it is absolute."""
        if relative.startswith("/"):
            raise ValueError(f"{relative!r} must be relative to the root")
        return self.directory / relative

    def read(self, relative: str) -> str | None:
        """The text of a file without its last newline, or None if there is no such file."""
        try:
            return self.path(relative).read_text(errors="surrogateescape").rstrip("\n")
        except FileNotFoundError:
            return None

    def names(self, relative: str) -> list[str]:
        """What is in a directory, sorted; empty if there is no such directory."""
        try:
            return sorted(entry.name for entry in self.path(relative).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def link(self, relative: str) -> Path | None:
        """Where a link points; None if it is no link."""
        path = self.path(relative)
        return path.readlink() if path.is_symlink() else None

    def glob(self, pattern: str) -> Iterator[Path]:
        """The files that match `pattern`, sorted."""
        yield from sorted(self.directory.glob(pattern))
