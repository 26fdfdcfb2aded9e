"""Decodes the manifest that a map attempt published: the Python twin of Java's `ManifestFormat`.

docs/manifest.md has the format. Both readers are tested with the bytes in `shuffle/vectors`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from vas_yarn.shuffle import version1, version2
from vas_yarn.shuffle.manifest_parts import (
    CHECKSUM_BYTES,
    ManifestFile,
    ManifestSegment,
    OutputManifest,
    check_seal,
    version_of,
)
from vas_yarn.shuffle.wire import Damaged

# The index of more would be made in memory, as yarn-plugins has it (ManifestRules).
MOST_PARTITIONS = 1 << 20

__all__ = [
    "CHECKSUM_BYTES",
    "ManifestFile",
    "ManifestSegment",
    "OutputManifest",
    "decode",
    "decode_version1",
]


def decode(data: bytes) -> OutputManifest:
    """Decodes a whole manifest of version 1 or 2, and verifies every byte of it.

    Raises Damaged, which says what is wrong with the bytes.
    """
    check_seal(data, len(data))
    version = version_of(data)
    if version == version1.VERSION:
        return _consistent(version1.read(data))
    if version == version2.VERSION:
        return _consistent(version2.read(data))
    raise Damaged(f"version {version}, known are {version1.VERSION} and {version2.VERSION}")


def decode_version1(data: bytes) -> OutputManifest:
    """Decodes a manifest as old releases did, which knew only version 1. Raises Damaged."""
    check_seal(data, len(data))
    version = version_of(data)
    if version != version1.VERSION:
        raise Damaged(f"version {version}, known is {version1.VERSION}")
    return _consistent(version1.read(data))


def _consistent(manifest: OutputManifest) -> OutputManifest:
    for problem in _problems(manifest):
        raise Damaged(f"does not add up: {problem}")
    return manifest


def _problems(manifest: OutputManifest) -> Iterator[str]:
    if manifest.partitions <= 0:
        yield "no partitions"
    if manifest.partitions > MOST_PARTITIONS:
        yield f"more than {MOST_PARTITIONS} partitions"
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


def _bounds(manifest: OutputManifest, segment: ManifestSegment) -> Iterator[str]:
    if segment.partition >= manifest.partitions:
        yield "a segment of no partition"
    if segment.run >= manifest.runs:
        yield "a segment of no run"
    if segment.file >= len(manifest.files):
        yield "a segment in no file"
    elif segment.end > manifest.files[segment.file].length:
        yield "a segment beyond its file's end"
