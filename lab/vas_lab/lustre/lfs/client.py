"""Connects a lab's `lfs` with its surroundings: the mount, the MDS, stdout and stderr."""

from __future__ import annotations

import errno
import os
import sys
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vas_lab.lustre.mds.client import call

INSTANCE = "ff35e01fe8bb4000"
VERSION = "2.17.57"
# From fcntl.h of Lustre: open a new file without giving it a layout yet.
O_LOV_DELAY_CREATE = 0o100000000 | os.O_NOCTTY | 0o20000


def out(text: str) -> None:
    """Prints on stdout; bytes of a name that are not UTF-8 are printed unchanged."""
    sys.stdout.buffer.write(os.fsencode(text))


def err(text: str) -> None:
    """Prints one line on stderr."""
    sys.stdout.flush()
    sys.stderr.buffer.write(os.fsencode(f"{text}\n"))


@dataclass(frozen=True)
class LfsClient:
    """The lab's file system, as this process sees it. `mount` is None outside of a lab."""

    mount: Path | None
    mds: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> LfsClient:
        """Makes the client from the variables that LabLustre.environment() sets."""
        mount = environment.get("VAS_LAB_MOUNT")
        return cls(Path(mount) if mount else None, Path(environment.get("VAS_LAB_MDS", "")))

    def holds(self, path: str) -> bool:
        """Tells whether the path lies on the file system, symbolic links resolved."""
        if self.mount is None:
            return False
        with suppress(OSError):
            real = Path(os.path.realpath(path))
            return real.is_relative_to(self.mount.resolve())
        return False

    def ask(self, operation: str, **arguments: Any) -> Any:
        """Sends the MDS a request without a file; returns the answer. Raises OSError."""
        return call(self.mds, operation, **arguments)

    def on_file(self, operation: str, path: str | int, **arguments: Any) -> Any:
        """Sends the MDS a request about a file (its path or a descriptor); returns the answer.

        Raises OSError: ENOTTY for a file of another file system, as Lustre's ioctl does.
        """
        if isinstance(path, int):
            return call(self.mds, operation, descriptor=path, **arguments)
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not self.holds(path):
                raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))
            return call(self.mds, operation, descriptor=descriptor, **arguments)
        finally:
            os.close(descriptor)

    def info(self) -> Any:
        """Asks the MDS for the file system's `fsname`, `osts` and `pools`. Raises OSError."""
        return self.ask("info")


def client_uuid(fsname: str) -> str:
    """Returns an invented UUID of the client, always the same for one file system."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, fsname))
