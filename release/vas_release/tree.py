"""The files of a package in a directory of their own, before they are packed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_PROGRAM, _FILE = 0o755, 0o644


@dataclass(frozen=True)
class PackageTree:
    """Files at `root` as they will lie below /. Names in it are relative: `usr/bin/vas`."""

    root: Path

    def write(self, name: str, content: str | bytes, *, runs: bool = False) -> None:
        """Writes a file; `runs` makes it a program."""
        file = self._new(name)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        file.chmod(_PROGRAM if runs else _FILE)

    def copy(self, name: str, file: Path) -> None:
        """Copies a file, or what a symbolic link leads to; a program stays one."""
        self.write(name, file.read_bytes(), runs=bool(file.stat().st_mode & 0o100))

    def link(self, name: str, target: str) -> None:
        """Makes a symbolic link."""
        self._new(name).symlink_to(target)

    def make_directory(self, name: str) -> Path:
        """Makes a directory, and returns it."""
        directory = self.root / name
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def files(self) -> list[Path]:
        """Returns all files, sorted, without directories and symbolic links."""
        return sorted(f for f in self.root.rglob("*") if f.is_file() and not f.is_symlink())

    def settle(self, epoch: int) -> None:
        """Gives all files the time `epoch`, and modes by which everybody reads them."""
        below = sorted(self.root.rglob("*"), reverse=True)
        for path in [*below, self.root]:
            if not path.is_symlink():
                runs = path.is_dir() or path.stat().st_mode & 0o100
                path.chmod(_PROGRAM if runs else _FILE)
            os.utime(path, (epoch, epoch), follow_symlinks=False)

    def _new(self, name: str) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        return file
