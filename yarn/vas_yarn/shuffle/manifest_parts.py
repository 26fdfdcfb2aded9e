"""Reads the parts that both versions of a manifest have: seals, files and segments."""

from __future__ import annotations

from dataclasses import dataclass

import google_crc32c

from vas_yarn.shuffle.wire import Damaged, Reader

CHECKSUM_BYTES = 64 << 10
CRC_BYTES = 4
COMPRESSED, ENCRYPTED = 1, 2
_MAGIC = 0x5641534D
_HEAD_BYTES = 5


@dataclass(frozen=True)
class ManifestFile:
    """A file of segments next to the manifest; `length` is in bytes."""

    name: str
    length: int


@dataclass(frozen=True)
class ManifestSegment:
    """One partition of one run. Offsets and sizes are in bytes; each checksum is the CRC32C of
    64 KiB."""

    partition: int
    run: int
    file: int
    offset: int
    stored_bytes: int
    raw_bytes: int
    records: int
    checksums: tuple[int, ...]

    @property
    def end(self) -> int:
        """The offset of the first byte after the segment."""
        return self.offset + self.stored_bytes


@dataclass(frozen=True)
class OutputManifest:
    """The segments of a map attempt, by partition, then run."""

    attempt: str
    host: str
    compressed: bool
    encrypted: bool
    partitions: int
    runs: int
    files: tuple[ManifestFile, ...]
    segments: tuple[ManifestSegment, ...]

    @property
    def stored_bytes(self) -> int:
        """The bytes of all segments in their files."""
        return sum(segment.stored_bytes for segment in self.segments)

    @property
    def records(self) -> int:
        """The number of records in all segments."""
        return sum(segment.records for segment in self.segments)


def check_seal(data: bytes, length: int, name: str = "") -> None:
    """Checks that the last 4 of `length` bytes are the CRC32C of those before.

    Raises Damaged, whose message begins with `name`.
    """
    body = length - CRC_BYTES
    if body < 0:
        raise Damaged(f"cut short: {length} bytes")
    if int.from_bytes(data[body:length], "big") != google_crc32c.value(data[:body]):
        raise Damaged(f"{name}wrong checksum over {length} bytes")


def version_of(data: bytes) -> int:
    """Returns the version of a sealed manifest. Raises Damaged for bytes of something else."""
    if len(data) < _HEAD_BYTES + CRC_BYTES:
        raise Damaged(f"cut short: {len(data)} bytes")
    magic = int.from_bytes(data[:4], "big")
    if magic != _MAGIC:
        raise Damaged(f"not a manifest: starts with {magic:#x}")
    return data[4]


def check_flags(flags: int) -> int:
    """Returns the flags. Raises Damaged if one is not known."""
    if flags & ~(COMPRESSED | ENCRYPTED):
        raise Damaged(f"unknown flags {flags:#x}")
    return flags


def check_end(reader: Reader) -> None:
    """Checks that everything was read. Raises Damaged if bytes are left."""
    if reader.left:
        raise Damaged(f"{reader.left} bytes too many")


def read_count(reader: Reader, smallest_item: int) -> int:
    """Reads how many items follow. Raises Damaged if the bytes left cannot hold so many."""
    count = reader.vint()
    if not 0 <= count <= reader.left // smallest_item:
        raise Damaged(f"no room for {count} items")
    return count


def read_file(reader: Reader) -> ManifestFile:
    """Reads a file's name and length. Raises Damaged for ones that no map writes."""
    file = ManifestFile(reader.text(), reader.vlong())
    if not file.name or "/" in file.name or file.name.startswith(".") or file.length < 0:
        raise Damaged(f"does not add up: impossible MOF: '{file.name}', {file.length} bytes")
    return file


def read_segment(reader: Reader, partition: int) -> ManifestSegment:
    """Reads a segment of a partition, with its checksums. Raises Damaged."""
    run, file = reader.vint(), reader.vint()
    offset, stored, raw, records = (reader.vlong() for _ in range(4))
    count = 0 if stored <= 0 else (stored - 1) // CHECKSUM_BYTES + 1
    if count > reader.left // CRC_BYTES:
        raise Damaged(f"no room for the checksums of {stored} bytes")
    if min(partition, run, file, offset) < 0 or min(stored, raw, records) <= 0:
        raise Damaged(f"does not add up: impossible segment: partition {partition}, run {run}")
    return ManifestSegment(partition, run, file, offset, stored, raw, records, reader.u32s(count))
