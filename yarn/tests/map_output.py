"""Map output as a map attempt leaves it, small."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import google_crc32c

from vas_yarn.shuffle.manifest import CHECKSUM_BYTES

EMPTY = b"\xff\x00\x00"
"""The end of the block that all empty partitions share: no partition, no files, no segments."""

JOB = "job_1700000000000_0001"


def attempt_name(task: int, number: int = 0) -> str:
    return f"attempt_1700000000000_0001_m_{task:06d}_{number}"


def publish(job: Path, task: int, partitions: list[int], number: int = 0, version: int = 2) -> Path:
    """A packed attempt whose partitions have that many bytes; 0 leaves one out."""
    name = attempt_name(task, number)
    directory = job / "shuffle" / name
    directory.mkdir(parents=True)
    data = b"".join(bytes([65 + p]) * size for p, size in enumerate(partitions))
    (directory / "packed.mof").write_bytes(data)
    encode = _version1 if version == 1 else _version2
    (directory / "manifest").write_bytes(encode(name, partitions, data))
    return directory


def _version1(name: str, partitions: list[int], data: bytes) -> bytes:
    body = b"VASM\x01\x00" + _text(name) + _text("vm1") + _vlong(len(partitions)) + b"\x01\x01"
    body += _text("packed.mof") + _vlong(len(data)) + _vlong(sum(1 for p in partitions if p))
    for partition, segment in _segments(partitions, data):
        body += _vlong(partition) + segment
    return _sealed(body)


def _version2(name: str, partitions: list[int], data: bytes) -> bytes:
    head = _text(name) + _text("vm1") + _vlong(len(partitions)) + b"\x01"
    file = b"\x01\x00" + _text("packed.mof") + _vlong(len(data))
    blocks = [_sealed(head + b"\xff" + file + b"\x00")]
    own = dict(_segments(partitions, data))
    start = 8 + 32 * (len(partitions) + 1)
    index = _record(-1, start, blocks[0])
    places: dict[bytes, int] = {}
    for partition in range(len(partitions)):
        tail = _vlong(partition) + file + b"\x01" + own[partition] if partition in own else EMPTY
        block = _sealed(head + tail)
        if block not in places:
            places[block] = start + sum(map(len, blocks))
            blocks.append(block)
        index += _record(partition, places[block], block)
    return _sealed(b"VASM\x02\x00\x00\x00" + index + b"".join(blocks))


def _record(number: int, offset: int, block: bytes) -> bytes:
    kind = b"ifile\x00\x00\x00\x02\x00\x00\x00"
    return _sealed(kind + struct.pack(">iqi", number, offset, len(block)))


def _segments(partitions: list[int], data: bytes) -> Iterator[tuple[int, bytes]]:
    """The segment of each partition that is not empty, as both versions have it."""
    offset = 0
    for partition, size in enumerate(partitions):
        if size:
            numbers = (0, 0, offset, size, size, max(1, size // 10))
            segment = b"".join(_vlong(number) for number in numbers)
            for block in range(offset, offset + size, CHECKSUM_BYTES):
                end = min(block + CHECKSUM_BYTES, offset + size)
                segment += google_crc32c.value(data[block:end]).to_bytes(4, "big")
            yield partition, segment
        offset += size


def _sealed(body: bytes) -> bytes:
    return body + int(google_crc32c.value(body)).to_bytes(4, "big")


def _text(text: str) -> bytes:
    return _vlong(len(text)) + text.encode()


def _vlong(number: int) -> bytes:
    if number <= 127:
        return bytes([number])
    length = (number.bit_length() + 7) // 8
    return bytes([256 - 112 - length]) + number.to_bytes(length, "big")
