"""Lists OSTs that are away and counts requests to OSTs, in pages that a lab's processes map.

The preloaded library (lab/libc/osts.c) reads and counts in the same pages, `struct board`.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

_AWAY_END = 4096
_COUNTED_OSTS = 256
_FLAGS = struct.Struct("<II")  # watched, counting
_COUNTS = struct.Struct("<QQQQ")
_AWAY_AT = _FLAGS.size + _COUNTS.size
_KINDS = ("glimpses", "syncs", "destroys", "punches")
# Of each OST, of the first 256.
_OST_KINDS = (*_KINDS, "reads", "writes")
_OST_COUNTS = struct.Struct(f"<{_COUNTED_OSTS}Q")
_OPENS = struct.Struct("<QQ")  # and the locks that programs got
_OPENS_AT = _AWAY_END + len(_OST_KINDS) * _OST_COUNTS.size
_LINKS = struct.Struct("<II")  # whether bytes cross links, and a number of what clients may skip
_LINKS_AT = _OPENS_AT + _OPENS.size
_BOARD_BYTES = _LINKS_AT + _LINKS.size


def board_path(state_dir: Path) -> Path:
    """Returns the path of the file with the pages: next to the MDS' socket."""
    return state_dir / "board"


class Board:
    """The pages of one lab, mapped. A missing file is made: no OST away, nothing counted.

    Raises OSError if it cannot be made.
    """

    def __init__(self, state_dir: Path) -> None:
        descriptor = os.open(board_path(state_dir), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, _BOARD_BYTES)
            self._page = mmap.mmap(descriptor, _BOARD_BYTES)
        finally:
            os.close(descriptor)

    def set_away(self, ost: int, error: int) -> None:
        """Makes calls that need an OST fail with `error`, an errno; 0 brings the OST back.

        Raises ValueError for an index above 4055 or an errno above 255.
        """
        if not (0 <= ost < _AWAY_END - _AWAY_AT and 0 <= error < 256):
            raise ValueError(f"OST {ost}, error {error}")
        self._page[_AWAY_AT + ost] = error
        self._watch(counting=self._counting)

    def away(self) -> set[int]:
        """Returns the indices of the OSTs that are away."""
        return {at for at, error in enumerate(self._page[_AWAY_AT:_AWAY_END]) if error}

    def count(self, *, on: bool) -> None:
        """Starts counting from 0, or stops; the counts stay until the next start."""
        if on:
            _COUNTS.pack_into(self._page, _FLAGS.size, 0, 0, 0, 0)
            self._page[_AWAY_END:_LINKS_AT] = bytes(_LINKS_AT - _AWAY_END)
        self._watch(counting=on)

    def requests(self) -> dict[str, int]:
        """Returns the counted requests by kind: to OSTs one for each object of a file, and opens.

        `reads` and `writes` are those to the first 256 OSTs; `opens` of files go to the MDT, and
        so do `locks`, those of flock(2), fcntl(2) and lockf(3).
        """
        found = dict(zip(_KINDS, _COUNTS.unpack_from(self._page, _FLAGS.size), strict=True))
        found |= {kind: sum(self._of_osts(kind)) for kind in _OST_KINDS if kind not in found}
        opens, locks = _OPENS.unpack_from(self._page, _OPENS_AT)
        return found | {"opens": opens, "locks": locks}

    def _of_osts(self, kind: str) -> tuple[int, ...]:
        at = _AWAY_END + _OST_KINDS.index(kind) * _OST_COUNTS.size
        return _OST_COUNTS.unpack_from(self._page, at)

    def requests_of(self, ost: int) -> dict[str, int] | None:
        """Returns the counted requests to one OST by kind, with reads and writes.

        None while nothing is counted, and for an index above 255.
        """
        if not self._counting or not 0 <= ost < _COUNTED_OSTS:
            return None
        return {kind: self._of_osts(kind)[ost] for kind in _OST_KINDS}

    def link(self, *, on: bool) -> None:
        """Has each read and write of a file ask the links of its node, or not."""
        _LINKS.pack_into(self._page, _LINKS_AT, on, 0)

    def forget_ranges(self) -> None:
        """Has all processes ask again for bytes that they knew to be in their node's cache."""
        on, number = _LINKS.unpack_from(self._page, _LINKS_AT)
        _LINKS.pack_into(self._page, _LINKS_AT, on, (number + 1) % (1 << 32))

    @property
    def _counting(self) -> bool:
        return bool(_FLAGS.unpack_from(self._page)[1])

    def _watch(self, *, counting: bool) -> None:
        _FLAGS.pack_into(self._page, 0, bool(self.away()) or counting, counting)
