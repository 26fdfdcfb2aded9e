"""Keeps the MDS' state on disk: identifiers given out, pools, and a parameter.

Identifiers are taken from blocks whose end is on disk before the first is used: after a
crash the rest of a block is skipped, and no identifier is ever given twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from vas_core.files import write_atomically
from vas_layout.model import Fid

_BLOCK = 4096
_FILE_SEQUENCE = 0x200000402
_FIRST_OBJECT_SEQUENCE = 0x280000400
_SEQUENCES_PER_OST = 0x40000000
_FILES = "files"


class MdsState:
    """The identifier counters and pools of the MDS, in one directory.

    The methods raise OSError if the state cannot be written.
    """

    def __init__(self, directory: Path, osts: Sequence[int]) -> None:
        self._path = directory / "mds.json"
        self._limits: dict[str, int] = {_FILES: 1, **{str(ost): 1 for ost in osts}}
        self.pools: dict[str, list[int]] = {}
        self.remote_dir_gid = 0  # as Lustre comes: only root stripes directories
        if self._path.exists():
            stored = json.loads(self._path.read_text())
            self._limits |= stored["next"]
            self.pools = stored["pools"]
            self.remote_dir_gid = stored.get("enable_remote_dir_gid", 0)
        self._next = dict(self._limits)

    def save(self) -> None:
        """Makes pools and counters durable."""
        content = {
            "next": self._limits,
            "pools": self.pools,
            "enable_remote_dir_gid": self.remote_dir_gid,
        }
        write_atomically(self._path, json.dumps(content, indent=2) + "\n")

    def new_file(self) -> Fid:
        """Returns an unused FID for a file or directory."""
        return Fid(_FILE_SEQUENCE, self._take(_FILES))

    def new_object(self, ost: int) -> Fid:
        """Returns an unused FID for an object on `ost`."""
        return Fid(_FIRST_OBJECT_SEQUENCE + ost * _SEQUENCES_PER_OST, self._take(str(ost)))

    def _take(self, counter: str) -> int:
        number = self._next[counter]
        if number >= self._limits[counter]:
            self._limits = {name: at + _BLOCK for name, at in self._next.items()}
            self.save()
        self._next[counter] = number + 1
        return number
