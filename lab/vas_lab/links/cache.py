"""Knows which bytes of which files each node has in its page cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

CHUNK = 1 << 20


@dataclass
class NodeCache:
    """The chunks that one node has, of at most `most_bytes`; the one used longest ago goes first.

    Each chunk is known from its start up to an offset of the file. Not for several threads.
    """

    most_bytes: int
    _ends: OrderedDict[tuple[bytes, int], int] = field(default_factory=OrderedDict)

    def end_of(self, file: bytes, chunk: int) -> int:
        """Returns up to where the bytes of a chunk are here; its start if none is."""
        end = self._ends.get((file, chunk))
        if end is None:
            return chunk * CHUNK
        self._ends.move_to_end((file, chunk))
        return end

    def add(self, file: bytes, start: int, end: int) -> None:
        """Notes bytes that came or were written. Those behind a hole in a chunk are not noted."""
        for chunk, first, last in chunks_of(start, end):
            known = self.end_of(file, chunk)
            if first <= known < last:
                self._ends[file, chunk] = last
        while len(self._ends) * CHUNK > self.most_bytes:
            self._ends.popitem(last=False)

    def end_from(self, file: bytes, start: int, end: int) -> int:
        """Returns up to where all bytes from `start` are here; looks at no chunk behind `end`."""
        at = start
        for chunk, first, last in chunks_of(start, end):
            here = self.end_of(file, chunk)
            if first > at or here < last:
                return max(at, min(here, last) if first <= at else at)
            at = here
        return at

    def forget(self, file: bytes, start: int, end: int) -> bool:
        """Drops bytes that another node has written, and what follows in their chunks.

        Returns whether any were here.
        """
        found = False
        for chunk, first, _ in chunks_of(start, end):
            if self._ends.get((file, chunk), 0) > first:
                self._ends[file, chunk] = first
                found = True
        return found

    def clear(self) -> None:
        """Drops all bytes of all files."""
        self._ends.clear()


def chunks_of(start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yields the chunks that bytes [start, end) are in: its number, and the part that is meant."""
    for chunk in range(start // CHUNK, -(-end // CHUNK)):
        yield chunk, max(start, chunk * CHUNK), min(end, (chunk + 1) * CHUNK)
