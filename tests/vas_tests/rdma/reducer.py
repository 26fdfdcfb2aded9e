"""Runs in the machine with RDMA: writes map output, and fetches it as a reducer does.

`reducer.py write DIRECTORY SIZE...` writes one map's output with a segment of each size, and prints
each segment's SHA-256. `reducer.py fetch DIRECTORY PARTITION HOST...` fetches a partition's segment
from each host in turn by the daemon whose local directory it is, and prints for each host the
SHA-256, or the refusal's number and text. Needs the standard library alone.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import struct
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

SECRET = bytes.fromhex("00ff")
JOB = struct.pack(">QI", 17, 3)
APPLICATION = "application_17_0003"
USER = "alice"
_OUTPUT = f"usercache/{USER}/appcache/{APPLICATION}/output/attempt_17_0003_m_000000_0"
_GREETING = b"VASJBS02"
_LOOK, _READ, _AUTHENTICATED, _LOOKED, _DATA, _REFUSED, _WORKING = 3, 4, 2, 5, 6, 7, 8
_PIECE = 1 << 20


def write(directory: str, sizes: Sequence[int]) -> list[str]:
    """Writes one map's output with segments of these sizes; returns their SHA-256."""
    output = Path(directory, _OUTPUT)
    output.mkdir(parents=True)
    sums, index, start = [], b"", 0
    with (output / "file.out").open("wb") as file:
        for size in sizes:
            segment = os.urandom(size)
            file.write(segment)
            sums.append(hashlib.sha256(segment).hexdigest())
            # As of a compressed segment; the raw size of one without a record is 2.
            index += struct.pack(">QQQ", start, 2 * size + 2, size)
            start += size
    (output / "file.out.index").write_bytes(index + struct.pack(">Q", zlib.crc32(index)))
    return sums


class DaemonRefused(Exception):
    """The daemon refused, by this number and text."""


class Reducer:
    """A reducer's connection to the daemon of its own node."""

    def __init__(self, directory: str) -> None:
        self._stream = socket.socket(socket.AF_UNIX)
        self._stream.connect(f"{directory}/vas-shuffled/socket")
        ours = os.urandom(32)
        self._stream.sendall(_GREETING + ours)
        theirs = self._receive(len(_GREETING) + 32)[len(_GREETING) :]
        proof = hmac.digest(SECRET, b"vas-jbs 1 asker\0" + ours + theirs + JOB, hashlib.sha256)
        self._ask(1, JOB + proof, _AUTHENTICATED)

    def fetch(self, host: str, partition: int) -> str:
        """Fetches a segment of map 0 from a host; returns its SHA-256. Raises DaemonRefused."""
        name = bytes([len(host)]) + host.encode()
        about = JOB + struct.pack(">III", 0, 0, partition)
        # Bytes to hold: none; and no checksum of IFile's is there.
        looked = self._ask(_LOOK, about + struct.pack(">IB", 0, 0) + name, _LOOKED)
        size, offset, hashed = struct.unpack(">Q", looked[:8])[0], 0, hashlib.sha256()
        while offset < size:
            length = min(_PIECE, size - offset)
            self._ask(_READ, about + struct.pack(">QI", offset, length) + name, _DATA)
            hashed.update(self._receive(length))
            offset += length
        return hashed.hexdigest()

    def _ask(self, kind: int, body: bytes, wanted: int) -> bytes:
        self._stream.sendall(struct.pack(">IBBQ", len(body), kind, 0, 1) + body)
        answered = _WORKING
        while answered == _WORKING:
            length, answered, _, _ = struct.unpack(">IBBQ", self._receive(14))
            answer = self._receive(length)
        if answered == _REFUSED:
            raise DaemonRefused(f"{answer[0]} {answer[1:].decode()}")
        assert answered == wanted, answered
        return answer

    def _receive(self, count: int) -> bytes:
        received = bytearray()
        while len(received) < count:
            part = self._stream.recv(count - len(received))
            if not part:
                raise DaemonRefused("the daemon closed the connection")
            received += part
        return bytes(received)


def main(words: Sequence[str]) -> None:
    """Does what the command line says."""
    match words:
        case ["write", directory, *sizes]:
            print(*write(directory, [int(size) for size in sizes]), sep="\n")
        case ["fetch", directory, partition, *hosts]:
            reducer = Reducer(directory)
            for host in hosts:
                try:
                    print(reducer.fetch(host, int(partition)), flush=True)
                except DaemonRefused as refused:
                    print(f"refused: {refused}", flush=True)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
