"""Compares map output with what was published: file lengths and block checksums."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import google_crc32c

from vas_core.errors import VasError
from vas_yarn.shuffle.job import MANIFEST, ShuffleAttempt, open_regular
from vas_yarn.shuffle.manifest import CHECKSUM_BYTES, ManifestSegment, OutputManifest
from vas_yarn.shuffle.wire import Damaged


@dataclass(frozen=True)
class OutputDamage:
    """A difference from what was published. `offset` is in bytes; None if it is not known."""

    attempt: str
    file: str
    what: str
    offset: int | None = None
    partition: int | None = None

    def as_json(self) -> dict[str, object]:
        """Returns the row as `vas shuffle verify --json` prints it."""
        return asdict(self)


def verify(attempt: ShuffleAttempt) -> Iterator[OutputDamage]:
    """Yields the damage of one attempt; nothing for one that has not published.

    Raises VasError if the file system fails: that is not damage.
    """
    if attempt.damage:
        yield OutputDamage(attempt.path.name, MANIFEST, attempt.damage)
    if attempt.manifest:
        for index in range(len(attempt.manifest.files)):
            yield from _file(attempt.path, attempt.manifest, index)


def _file(directory: Path, manifest: OutputManifest, index: int) -> Iterator[OutputDamage]:
    file = manifest.files[index]
    path = directory / file.name
    try:
        descriptor = open_regular(path)
    except FileNotFoundError as gone:
        if not (directory / MANIFEST).exists():
            raise VasError("was removed: the job has ended", where=str(directory)) from gone
        yield OutputDamage(manifest.attempt, file.name, "is missing")
        return
    except Damaged as wrong:
        yield OutputDamage(manifest.attempt, file.name, str(wrong))
        return
    try:
        length = os.fstat(descriptor).st_size
        if length != file.length:
            yield OutputDamage(
                manifest.attempt, file.name, f"is {length} bytes long, published were {file.length}"
            )
            return
        for segment in manifest.segments:
            if segment.file == index:
                yield from _segment(descriptor, path, manifest.attempt, segment)
    finally:
        os.close(descriptor)


def _segment(
    descriptor: int, path: Path, attempt: str, segment: ManifestSegment
) -> Iterator[OutputDamage]:
    for block, expected in enumerate(segment.checksums):
        offset = segment.offset + block * CHECKSUM_BYTES
        size = min(CHECKSUM_BYTES, segment.end - offset)
        try:
            data = os.pread(descriptor, size, offset)
        except OSError as wrong:
            raise VasError(f"cannot be read: {wrong.strerror}", where=str(path)) from wrong
        if len(data) != size or google_crc32c.value(data) != expected:
            yield OutputDamage(attempt, path.name, "wrong checksum", offset, segment.partition)
