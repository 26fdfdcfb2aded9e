"""Decodes manifests of version 1: one checksum over all bytes, no index. Old releases wrote
them."""

from __future__ import annotations

from vas_yarn.shuffle.manifest_parts import (
    COMPRESSED,
    CRC_BYTES,
    ENCRYPTED,
    OutputManifest,
    check_end,
    check_flags,
    read_count,
    read_file,
    read_segment,
)
from vas_yarn.shuffle.wire import Reader

VERSION = 1
_HEAD_BYTES = 5
_SMALLEST_FILE = 3
_SMALLEST_SEGMENT = 11


def read(data: bytes) -> OutputManifest:
    """Decodes a manifest whose seal and version were checked. Raises Damaged."""
    reader = Reader(data, len(data) - CRC_BYTES, _HEAD_BYTES)
    flags = check_flags(reader.u8())
    manifest = OutputManifest(
        attempt=reader.text(),
        host=reader.text(),
        compressed=bool(flags & COMPRESSED),
        encrypted=bool(flags & ENCRYPTED),
        partitions=reader.vint(),
        runs=reader.vint(),
        files=tuple(read_file(reader) for _ in range(read_count(reader, _SMALLEST_FILE))),
        segments=tuple(
            read_segment(reader, reader.vint())
            for _ in range(read_count(reader, _SMALLEST_SEGMENT))
        ),
    )
    check_end(reader)
    return manifest
