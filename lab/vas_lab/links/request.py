"""Encodes what a process of a lab asks the links of its node (lab/libc/links.c), and the answer."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

# In the abstract namespace, of which each network has its own: whoever asks need not know its node.
ADDRESS = "\0vas-lab-links"
REQUEST = struct.Struct("<IIQQ")
_ANSWER = struct.Struct("<iIQQ")


class Kind(IntEnum):
    """A process read bytes of a file, wrote some, or waits until all are at their OSTs."""

    READ = 0
    WRITE = 1
    SYNC = 2


@dataclass(frozen=True)
class LinkRequest:
    """Bytes [start, start + length) of the file that travels with the request, as a descriptor."""

    kind: Kind
    start: int
    length: int


@dataclass(frozen=True)
class LinkAnswer:
    """An errno, or 0; then the bytes [start, end) of the file are in the node's cache."""

    error: int = 0
    start: int = 0
    end: int = 0

    def encode(self) -> bytes:
        """Returns the answer's bytes."""
        return _ANSWER.pack(self.error, 0, self.start, self.end)


def decode_request(data: bytes) -> LinkRequest:
    """Returns the request in a datagram. Raises ValueError if there is none."""
    if len(data) != REQUEST.size:
        raise ValueError(f"{len(data)} bytes")
    kind, _, start, length = REQUEST.unpack(data)
    return LinkRequest(Kind(kind), start, length)
