"""Map output as a map attempt leaves it, small."""

from __future__ import annotations

from pathlib import Path

import google_crc32c

from vas_yarn.shuffle.manifest import CHECKSUM_BYTES

JOB = "job_1700000000000_0001"


def attempt_name(task: int, number: int = 0) -> str:
    return f"attempt_1700000000000_0001_m_{task:06d}_{number}"


def publish(job: Path, task: int, partitions: list[int], number: int = 0) -> Path:
    """A packed attempt whose partitions have that many bytes; 0 leaves one out."""
    name = attempt_name(task, number)
    directory = job / "shuffle" / name
    directory.mkdir(parents=True)
    data = b"".join(bytes([65 + p]) * size for p, size in enumerate(partitions))
    (directory / "packed.mof").write_bytes(data)
    (directory / "manifest").write_bytes(_manifest(name, partitions, data))
    return directory


def _manifest(name: str, partitions: list[int], data: bytes) -> bytes:
    body = b"VASM\x01\x00" + _text(name) + _text("vm1") + _vlong(len(partitions)) + b"\x01\x01"
    body += _text("packed.mof") + _vlong(len(data)) + _vlong(sum(1 for p in partitions if p))
    offset = 0
    for partition, size in enumerate(partitions):
        if size:
            for number in (partition, 0, 0, offset, size, size, max(1, size // 10)):
                body += _vlong(number)
            for block in range(offset, offset + size, CHECKSUM_BYTES):
                end = min(block + CHECKSUM_BYTES, offset + size)
                body += google_crc32c.value(data[block:end]).to_bytes(4, "big")
        offset += size
    return body + google_crc32c.value(body).to_bytes(4, "big")


def _text(text: str) -> bytes:
    return _vlong(len(text)) + text.encode()


def _vlong(number: int) -> bytes:
    if number <= 127:
        return bytes([number])
    length = (number.bit_length() + 7) // 8
    return bytes([256 - 112 - length]) + number.to_bytes(length, "big")
