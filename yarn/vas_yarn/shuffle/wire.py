"""Reads Hadoop's primitive types as Java writes them: big-endian numbers, `vlong`, `Text`."""

from __future__ import annotations

import struct

_LONGEST_TEXT = 4096
_INT_MIN, _INT_MAX = -(1 << 31), (1 << 31) - 1


class Damaged(Exception):
    """The bytes are not what was written: cut, changed, or of another version."""


class Reader:
    """Reads a buffer from `start` to `end`; every method raises Damaged beyond that."""

    def __init__(self, data: bytes, end: int, start: int = 0) -> None:
        self._data = data
        self._at = start
        self._end = end

    @property
    def left(self) -> int:
        """The number of bytes not yet read."""
        return self._end - self._at

    def take(self, count: int) -> bytes:
        """Returns the next `count` bytes. Raises Damaged where fewer are left."""
        if count > self.left:
            raise Damaged("does not add up: ends early")
        self._at += count
        return self._data[self._at - count : self._at]

    def u8(self) -> int:
        """Returns the next unsigned byte. Raises Damaged at the end."""
        return self.take(1)[0]

    def u32s(self, count: int) -> tuple[int, ...]:
        """Returns `count` unsigned 32-bit numbers. Raises Damaged where fewer are left."""
        return struct.unpack(f">{count}I", self.take(4 * count))

    def vlong(self) -> int:
        """Returns a number as `WritableUtils.writeVLong` writes it. Raises Damaged at the end."""
        first = struct.unpack("b", self.take(1))[0]
        if first >= -112:
            return int(first)
        length = -112 - first if first >= -120 else -120 - first
        value = int.from_bytes(self.take(length), "big")
        # Eight bytes wrap around as Java's long does.
        value -= (1 << 64) if value >= 1 << 63 else 0
        return ~value if first < -120 else value

    def vint(self) -> int:
        """Returns a number of at most 32 bits. Raises Damaged for a longer one."""
        value = self.vlong()
        if not _INT_MIN <= value <= _INT_MAX:
            raise Damaged("does not add up: value too long to fit in integer")
        return value

    def text(self) -> str:
        """Returns a UTF-8 text, which follows its length in bytes. Raises Damaged for other
        bytes."""
        length = self.vint()
        if not 0 <= length <= _LONGEST_TEXT:
            raise Damaged(f"does not add up: a text of {length} bytes")
        try:
            return self.take(length).decode()
        except UnicodeDecodeError as wrong:
            raise Damaged("does not add up: a text that is not UTF-8") from wrong
