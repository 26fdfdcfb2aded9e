"""The file-system root below which sysfs and procfs are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.reading import link_inside, names_inside, read_inside
from vas_core.tree_glob import glob_inside

# More than /proc/interrupts of any machine has (11 bytes for each CPU and interrupt).
MOST_BYTES = 32 << 20
_LIVE = Path("/")


@dataclass(frozen=True)
class Root:
    """A directory that stands for `/`: this machine's own, or a tree captured on another.

    A captured tree is read with bounds: no link leads out of it, and what is not a regular file of
    at most MOST_BYTES raises BadInput, as links in a circle do.
    Paths are given without the leading slash: `root.read("sys/fs/lustre/version")`.
    """

    directory: Path = Path("/")

    def path(self, relative: str) -> Path:
        """Returns the real path of `relative`. Raises ValueError if it is absolute."""
        if relative.startswith("/"):
            raise ValueError(f"{relative!r} must be relative to the root")
        return self.directory / relative

    @property
    def is_live(self) -> bool:
        """Returns whether this is the machine's own `/`."""
        return self.directory == _LIVE

    def read(self, relative: str) -> str | None:
        """Returns the text of a file without its last newline; None if there is no such file.

        Raises BadInput for what a captured tree must not hold, OSError as open() does.
        """
        path = self.path(relative)
        try:
            if self.is_live:
                return path.read_text(errors="surrogateescape").rstrip("\n")
            content = read_inside(self.directory, relative, MOST_BYTES)
        except FileNotFoundError:
            return None
        return content.decode(errors="surrogateescape").rstrip("\n")

    def names(self, relative: str) -> list[str]:
        """Returns the sorted names in a directory, an empty list if it does not exist.

        Raises BadInput for links in a circle in a captured tree, other OSErrors as open() does.
        """
        path = self.path(relative)
        try:
            if not self.is_live:
                return names_inside(self.directory, relative)
            return sorted(entry.name for entry in path.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def link(self, relative: str) -> Path | None:
        """Returns the target of a symbolic link; None if the path is not a link or not there.

        Raises BadInput for links in a circle in a captured tree, OSError as open() does.
        """
        path = self.path(relative)
        if not self.is_live:
            return link_inside(self.directory, relative)
        return path.readlink() if path.is_symlink() else None

    def glob(self, pattern: str) -> Iterator[Path]:
        """Yields the files that match `pattern`, sorted; of a captured tree those within it.

        Raises BadInput for links in a circle and for a captured tree too large to search, OSError
        where it cannot be read.
        """
        if self.is_live:
            yield from sorted(self.directory.glob(pattern))
        else:
            yield from glob_inside(self.directory, pattern)
