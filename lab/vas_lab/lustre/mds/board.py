"""Tells which OSTs are away and counts requests to OSTs, in a page that a lab's processes map.

The preloaded library (lab/libc/osts.c) reads and counts in the same page, `struct board`.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

_PAGE_BYTES = 4096
_FLAGS = struct.Struct("<II")  # watched, counting
_COUNTS = struct.Struct("<QQQQ")
_AWAY_AT = _FLAGS.size + _COUNTS.size
_KINDS = ("glimpses", "syncs", "destroys", "punches")


def board_path(state_dir: Path) -> Path:
    """Returns the page's path: next to the MDS' socket, where the library finds it."""
    return state_dir / "board"


class Board:
    """The page of one lab; made, with every OST there and nothing counted, if it is missing."""

    def __init__(self, state_dir: Path) -> None:
        descriptor = os.open(board_path(state_dir), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, _PAGE_BYTES)
            self._page = mmap.mmap(descriptor, _PAGE_BYTES)
        finally:
            os.close(descriptor)

    def set_away(self, ost: int, error: int) -> None:
        """Makes calls that need an OST fail with `error`, an errno; 0 brings the OST back.

        Raises ValueError for an index above 4055 or an errno above 255.
        """
        if not (0 <= ost < _PAGE_BYTES - _AWAY_AT and 0 <= error < 256):
            raise ValueError(f"OST {ost}, error {error}")
        self._page[_AWAY_AT + ost] = error
        self._watch(counting=self._counting)

    def away(self) -> set[int]:
        """Returns the indices of the OSTs that are away."""
        return {at for at, error in enumerate(self._page[_AWAY_AT:]) if error}

    def count(self, *, on: bool) -> None:
        """Starts counting from 0, or stops; the counts stay until the next start."""
        if on:
            _COUNTS.pack_into(self._page, _FLAGS.size, 0, 0, 0, 0)
        self._watch(counting=on)

    def requests(self) -> dict[str, int]:
        """Returns the counted requests to OSTs by kind, one for each object of a file."""
        return dict(zip(_KINDS, _COUNTS.unpack_from(self._page, _FLAGS.size), strict=True))

    @property
    def _counting(self) -> bool:
        return bool(_FLAGS.unpack_from(self._page)[1])

    def _watch(self, *, counting: bool) -> None:
        _FLAGS.pack_into(self._page, 0, bool(self.away()) or counting, counting)
