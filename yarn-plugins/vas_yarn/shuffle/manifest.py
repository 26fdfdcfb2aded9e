"""What a map attempt published, read from its manifest: the twin of `ManifestFormat`.

The format is the table at the end of docs/shuffle.md. Both readers are tested with the bytes
in `shuffle/vectors`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import google_crc32c

from vas_yarn.shuffle.wire import Damaged, Reader

CHECKSUM_BYTES = 64 << 10
_MAGIC = 0x5641534D
_VERSION = 1
_COMPRESSED, _ENCRYPTED = 1, 2


@dataclass(frozen=True)
class MofFile:
    """A file of segments beside the manifest; `length` in bytes."""

    name: str
    length: int


@dataclass(frozen=True)
class Segment:
    """One partition of one run. Offsets and sizes are bytes, checksums CRC32C of 64 KiB each."""

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
        """The first byte after it."""
        return self.offset + self.stored_bytes


@dataclass(frozen=True)
class Manifest:
    """The segments of a map attempt, by partition, then run."""

    attempt: str
    host: str
    compressed: bool
    encrypted: bool
    partitions: int
    runs: int
    files: tuple[MofFile, ...]
    segments: tuple[Segment, ...]

    @property
    def stored_bytes(self) -> int:
        """Bytes of all segments in their files."""
        return sum(segment.stored_bytes for segment in self.segments)

    @property
    def records(self) -> int:
        """Records of all segments."""
        return sum(segment.records for segment in self.segments)


def decode(data: bytes) -> Manifest:
    """The manifest in these bytes. Raises Damaged, which says what is wrong with them."""
    body = len(data) - 4
    if body < 0:
        raise Damaged(f"cut short: {len(data)} bytes")
    if int.from_bytes(data[body:], "big") != google_crc32c.value(data[:body]):
        raise Damaged(f"wrong checksum over {len(data)} bytes")
    manifest = _read(Reader(data, body))
    for problem in _problems(manifest):
        raise Damaged(f"does not add up: {problem}")
    return manifest


def _read(reader: Reader) -> Manifest:
    flags = _flags(reader)
    manifest = Manifest(
        attempt=reader.text(),
        host=reader.text(),
        compressed=bool(flags & _COMPRESSED),
        encrypted=bool(flags & _ENCRYPTED),
        partitions=reader.vint(),
        runs=reader.vint(),
        files=tuple(_file(reader) for _ in range(_count(reader, 3))),
        segments=tuple(_segment(reader) for _ in range(_count(reader, 11))),
    )
    if reader.left:
        raise Damaged(f"{reader.left} bytes too many")
    return manifest


def _flags(reader: Reader) -> int:
    (magic,) = reader.u32s(1)
    if magic != _MAGIC:
        raise Damaged(f"no manifest: starts with {magic:#x}")
    version = reader.u8()
    if version != _VERSION:
        raise Damaged(f"version {version}, known is {_VERSION}")
    flags = reader.u8()
    if flags & ~(_COMPRESSED | _ENCRYPTED):
        raise Damaged(f"unknown flags {flags:#x}")
    return flags


def _count(reader: Reader, smallest_item: int) -> int:
    count = reader.vint()
    if not 0 <= count <= reader.left // smallest_item:
        raise Damaged(f"no room for {count} items")
    return count


def _file(reader: Reader) -> MofFile:
    file = MofFile(reader.text(), reader.vlong())
    if not file.name or "/" in file.name or file.name.startswith(".") or file.length < 0:
        raise Damaged(f"does not add up: impossible MOF: '{file.name}', {file.length} bytes")
    return file


def _segment(reader: Reader) -> Segment:
    partition, run, file = reader.vint(), reader.vint(), reader.vint()
    offset, stored, raw, records = (reader.vlong() for _ in range(4))
    count = 0 if stored <= 0 else (stored - 1) // CHECKSUM_BYTES + 1
    if count > reader.left // 4:
        raise Damaged(f"no room for the checksums of {stored} bytes")
    if min(partition, run, file, offset) < 0 or min(stored, raw, records) <= 0:
        raise Damaged(f"does not add up: impossible segment: partition {partition}, run {run}")
    return Segment(partition, run, file, offset, stored, raw, records, reader.u32s(count))


def _problems(manifest: Manifest) -> Iterator[str]:
    if manifest.partitions <= 0:
        yield "no partitions"
    if manifest.runs < 0:
        yield "a negative number of runs"
    names = Counter(file.name for file in manifest.files)
    yield from (f"two files named {name}" for name, count in names.items() if count > 1)
    for segment in manifest.segments:
        yield from _bounds(manifest, segment)
    order = [(segment.partition, segment.run) for segment in manifest.segments]
    if any(left >= right for left, right in pairwise(order)):
        yield "segments out of order"
    placed = sorted(manifest.segments, key=lambda segment: (segment.file, segment.offset))
    for left, right in pairwise(placed):
        if left.file == right.file and left.end > right.offset:
            yield "segments overlap"


def _bounds(manifest: Manifest, segment: Segment) -> Iterator[str]:
    if segment.partition >= manifest.partitions:
        yield "a segment of no partition"
    if segment.run >= manifest.runs:
        yield "a segment of no run"
    if segment.file >= len(manifest.files):
        yield "a segment in no file"
    elif segment.end > manifest.files[segment.file].length:
        yield "a segment beyond its file's end"
