"""Keeps the janitor's memory between two runs: which jobs are over, and since when."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vas_core.predictable_names import JANITOR, JANITOR_MEMORY, JANITOR_MEMORY_NEW
from vas_core.safe_open import Planted, open_own, open_own_directory, read_own
from vas_yarn.shuffle.janitor.removal import names_in

_MOST_BYTES = 64 << 20
_OWN = re.compile(rf"{re.escape(JANITOR.of())}(\.[0-9a-f]{{16}})?")


@dataclass(frozen=True)
class JanitorMemory:
    """The janitor's memory, a file below the staging root. `descriptor` is that root, open."""

    root: Path
    descriptor: int

    def read(self) -> dict[str, int]:
        """Returns job -> when it ended (Unix ms), as an earlier run wrote it; empty if none did.

        Raises Planted if the memory is not a file of this user, VasError if it is too long,
        OSError if it cannot be read.
        """
        try:
            with self._own() as (own, path):
                read = json.loads(read_own(path / JANITOR_MEMORY.of(), _MOST_BYTES, dir_fd=own))
        except (FileNotFoundError, ValueError):
            return {}
        pairs = read.items() if isinstance(read, dict) else ()
        return {job: ended for job, ended in pairs if isinstance(ended, int)}

    def write(self, over: Mapping[str, int]) -> None:
        """Writes job -> when it ended (Unix ms), as `read` returns it.

        Raises OSError, and Planted if the file's name is taken by something else.
        """
        self._make_own()
        memory, new = JANITOR_MEMORY.of(), JANITOR_MEMORY_NEW.of()
        with self._own() as (own, path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            descriptor = open_own(path / new, flags, dir_fd=own)
            with os.fdopen(descriptor, "w") as stream:
                json.dump(over, stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.rename(new, memory, src_dir_fd=own, dst_dir_fd=own)

    def strangers(self) -> Iterator[tuple[str, str]]:
        """Yields (name, why) for each name in the staging root that looks like the memory, and is
        not the janitor's."""
        for name in self._names():
            if why := self._not_own(name):
                yield name, why

    def _make_own(self) -> None:
        """Makes a directory for the memory if there is none of this user's alone.

        The staging root is open to everybody, so its first name may be taken by somebody else: then
        the name gets an ending that nobody can foresee.
        """
        if self._own_names():
            return
        try:
            os.mkdir(JANITOR.of(), 0o700, dir_fd=self.descriptor)
        except FileExistsError:
            os.mkdir(f"{JANITOR.of()}.{secrets.token_hex(8)}", 0o700, dir_fd=self.descriptor)

    def _names(self) -> list[str]:
        return [name for name in names_in(self.descriptor) if _OWN.fullmatch(name)]

    def _own_names(self) -> list[str]:
        return [name for name in self._names() if self._not_own(name) is None]

    def _not_own(self, name: str) -> str | None:
        """Why this is not the janitor's directory; None if it is."""
        try:
            os.close(open_own_directory(self.root / name, dir_fd=self.descriptor))
        except Planted as wrong:
            return wrong.what
        except OSError as wrong:
            return wrong.strerror or str(wrong)
        return None

    @contextmanager
    def _own(self) -> Iterator[tuple[int, Path]]:
        """Opens the directory with the memory. Raises FileNotFoundError if there is none."""
        names = self._own_names()
        if not names:
            raise FileNotFoundError(errno.ENOENT, "no directory of the janitor", str(self.root))
        path = self.root / names[0]
        descriptor = open_own_directory(path, dir_fd=self.descriptor)
        try:
            yield descriptor, path
        finally:
            os.close(descriptor)
