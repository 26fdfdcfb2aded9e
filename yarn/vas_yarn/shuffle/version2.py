"""Decodes manifests of version 2: an index with a record for each partition, then their blocks.

`read` decodes and verifies the whole. Reducers, which are Java's, read one record and one block.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace

import google_crc32c

from vas_yarn.shuffle.manifest_parts import (
    COMPRESSED,
    CRC_BYTES,
    ENCRYPTED,
    ManifestFile,
    ManifestSegment,
    OutputManifest,
    check_end,
    check_flags,
    check_seal,
    read_count,
    read_file,
    read_segment,
)
from vas_yarn.shuffle.wire import Damaged, Reader

VERSION = 2
KIND = "ifile"
SUMMARY = -1
PREFIX_BYTES, RECORD_BYTES = 8, 32
_RECORD = struct.Struct(">8sIiqiI")
_SMALLEST_BLOCK = 11
_SMALLEST_FILE = 4
_SMALLEST_SEGMENT = 10


@dataclass(frozen=True)
class _Record:
    flags: int
    offset: int
    length: int


@dataclass(frozen=True)
class _Block:
    identity: tuple[str, str, int, int]
    partition: int
    files: tuple[tuple[int, ManifestFile], ...]
    segments: tuple[ManifestSegment, ...]


def read(data: bytes) -> OutputManifest:
    """Decodes a manifest whose seal and version were checked. Raises Damaged."""
    body = len(data) - CRC_BYTES
    if body < PREFIX_BYTES:
        raise Damaged(f"cut short: {len(data)} bytes")
    if reserved := int.from_bytes(data[5:PREFIX_BYTES], "big"):
        raise Damaged(f"unknown flags {reserved:#x}")
    first = _record(data, body, SUMMARY)
    summary = _block(data, body, first, first.offset, SUMMARY)
    attempt, host, partitions, runs = summary.identity
    if first.offset != place(partitions):
        raise Damaged(f"an index of another length than that of {partitions} partitions")
    known = tuple(file for _, file in summary.files)
    _check(summary, summary, known)
    segments, end = _segments(data, body, summary, known, first)
    if end != body:
        raise Damaged(f"{body - end} bytes too many")
    return OutputManifest(
        attempt=attempt,
        host=host,
        compressed=bool(first.flags & COMPRESSED),
        encrypted=bool(first.flags & ENCRYPTED),
        partitions=partitions,
        runs=runs,
        files=known,
        segments=tuple(segments),
    )


def place(number: int) -> int:
    """Returns the offset of the index record of a partition, or of `SUMMARY`."""
    return PREFIX_BYTES + (number + 1) * RECORD_BYTES


def _segments(
    data: bytes, body: int, summary: _Block, known: tuple[ManifestFile, ...], first: _Record
) -> tuple[list[ManifestSegment], int]:
    segments = list[ManifestSegment]()
    shared: _Record | None = None
    end = first.offset + first.length
    for partition in range(summary.identity[2]):
        record = _record(data, body, partition)
        if record.flags != first.flags:
            raise Damaged(f"{_name(partition)}: other flags than the summary's")
        if record == shared:
            continue
        block = _block(data, body, record, end, partition)
        _check(block, summary, known)
        if block.partition == SUMMARY:
            shared = record
        segments += (_renumbered(segment, block) for segment in block.segments)
        end += record.length
    return segments, end


def _name(number: int) -> str:
    return "the summary" if number == SUMMARY else f"partition {number}"


def _record(data: bytes, body: int, number: int) -> _Record:
    at = place(number)
    if at > body - RECORD_BYTES:
        raise Damaged(f"{_name(number)}: its index record is beyond the end")
    kind, word, found, offset, length, crc = _RECORD.unpack_from(data, at)
    if crc != google_crc32c.value(data[at : at + RECORD_BYTES - CRC_BYTES]):
        raise Damaged(f"{_name(number)}: wrong checksum of its index record")
    if word >> 24 != VERSION:
        raise Damaged(
            f"{_name(number)}: an index record of version {word >> 24}, known is {VERSION}"
        )
    if _kind(kind) != KIND:
        raise Damaged(
            f"{_name(number)}: segments of kind {_kind(kind)}, this reader knows {KIND}:"
            " it needs the release that wrote them, or a later one"
        )
    flags = check_flags(word & 0xFFFFFF)
    if found != number:
        raise Damaged(f"{_name(number)}: the index record of {_name(found)} is in its place")
    return _Record(flags, offset, length)


def _kind(name: bytes) -> str:
    text = name.rstrip(b"\0").decode("latin-1")
    return text if re.fullmatch("[a-z0-9-]+", text) else f"0x{name.hex()}"


def _block(data: bytes, body: int, record: _Record, start: int, number: int) -> _Block:
    """Decodes the block that has to start there."""
    length = record.length
    if (
        record.offset != start
        or start < PREFIX_BYTES
        or not _SMALLEST_BLOCK <= length <= body - start
    ):
        raise Damaged(f"{_name(number)}: no block at {record.offset} of {length} bytes")
    bytes_of = data[start : start + length]
    check_seal(bytes_of, length, f"{_name(number)}: ")
    reader = Reader(bytes_of, length - CRC_BYTES)
    identity = (reader.text(), reader.text(), reader.vint(), reader.vint())
    partition = reader.vint()
    files = tuple(
        (reader.vint(), read_file(reader)) for _ in range(read_count(reader, _SMALLEST_FILE))
    )
    segments = tuple(
        read_segment(reader, partition) for _ in range(read_count(reader, _SMALLEST_SEGMENT))
    )
    check_end(reader)
    if partition != number and (partition != SUMMARY or segments):
        raise Damaged(f"{_name(number)}: the block of {_name(partition)} is in its place")
    return _Block(identity, partition, files, segments)


def _check(block: _Block, summary: _Block, known: tuple[ManifestFile, ...]) -> None:
    if block.identity != summary.identity:
        raise Damaged(f"{_name(block.partition)}: a block of another manifest")
    for number, file in block.files:
        if not 0 <= number < len(known) or known[number] != file:
            raise Damaged(f"{_name(block.partition)}: its files are not those of the summary")


def _renumbered(segment: ManifestSegment, block: _Block) -> ManifestSegment:
    if segment.file >= len(block.files):
        raise Damaged("does not add up: a segment in no file")
    return replace(segment, file=block.files[segment.file][0])
