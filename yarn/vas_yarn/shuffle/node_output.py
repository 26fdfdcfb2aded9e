"""Reads and verifies map output on a node's own disks, in the files of Hadoop's collector.

`file.out` has a segment for each partition, `file.out.index` the start, raw and stored bytes of
each as big-endian 64-bit numbers, and a CRC32 of them. The last 4 bytes of a segment are the CRC32
of those before.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_core.shown import shown
from vas_yarn.history import job_id
from vas_yarn.shuffle.job import open_regular
from vas_yarn.shuffle.verify import OutputDamage
from vas_yarn.shuffle.wire import Damaged

DATA, INDEX = "file.out", "file.out.index"
_ENTRY = struct.Struct(">3q")
_SUM = struct.Struct(">q")
_CHECKSUM_BYTES = 4
_MOST_PARTITIONS = 1_000_000
_LARGEST_INDEX = _MOST_PARTITIONS * _ENTRY.size + _SUM.size
_READ_BYTES = 4 << 20
_MAP_ATTEMPT = re.compile(r"attempt_\d+_\d+_m_\d+_\d+")
# Of usercache/USER/appcache/APPLICATION/output/ATTEMPT/file.out.
_USER_LEVEL = 4


@dataclass(frozen=True)
class NodeSegment:
    """A partition in a map output's file: offset, size without compression, and size in the
    file."""

    start: int
    raw_bytes: int
    stored_bytes: int


@dataclass(frozen=True)
class NodeAttempt:
    """A map attempt's output on this node; empty `damage` means that its index is right."""

    name: str
    directory: Path
    segments: tuple[NodeSegment, ...] = ()
    damage: str = ""

    @property
    def task(self) -> str:
        """The attempt's id without its last number; the same for all attempts of one map."""
        return self.name.rpartition("_")[0]

    @property
    def stored_bytes(self) -> int:
        """The bytes of all segments."""
        return sum(segment.stored_bytes for segment in self.segments)

    def as_json(self) -> dict[str, object]:
        """Returns the row as `vas shuffle ls --local --json` prints it."""
        row: dict[str, object] = {"attempt": self.name, "directory": str(self.directory)}
        if self.damage:
            return row | {"state": "damaged", "damage": self.damage}
        sizes = {"partitions": len(self.segments), "stored_bytes": self.stored_bytes}
        return row | {"state": "written"} | sizes


@dataclass(frozen=True)
class NodeReducer:
    """The input of one reducer that lies on this node. Stock's index counts no records."""

    partition: int
    maps: int
    raw_bytes: int
    stored_bytes: int


def parse_index(data: bytes, file_bytes: int) -> tuple[NodeSegment, ...]:
    """Returns the segments that an index names in a file of `file_bytes` bytes. Raises Damaged."""
    entries, rest = divmod(len(data) - _SUM.size, _ENTRY.size)
    if entries < 1 or rest or entries > _MOST_PARTITIONS:
        raise Damaged(f"{INDEX}: {len(data)} bytes are not an index")
    body = data[: -_SUM.size]
    if _SUM.unpack(data[-_SUM.size :])[0] != zlib.crc32(body):
        raise Damaged(f"{INDEX}: wrong checksum")
    found = tuple(NodeSegment(*numbers) for numbers in _ENTRY.iter_unpack(body))
    for segment in found:
        end = segment.start + segment.stored_bytes
        if min(segment.start, segment.raw_bytes, segment.stored_bytes) < 0 or end > file_bytes:
            raise Damaged(f"{INDEX}: names bytes that {DATA} does not have")
    # A reader of all segments would otherwise read the file once for each of them.
    if sum(segment.stored_bytes for segment in found) > file_bytes:
        raise Damaged(f"{INDEX}: gives the same bytes of {DATA} to several partitions")
    return found


def node_attempts(job: str, local_dirs: Sequence[Path]) -> list[NodeAttempt]:
    """Returns the map attempts of a job with output in a node's local directories, by name.

    The two files of an attempt may lie on two disks. Raises BadInput if there are none, or if
    several users have such files: each can make them in its own directory. Raises VasError or
    OSError if a disk fails.
    """
    files: dict[str, dict[str, Path]] = {}
    users: set[str] = set()
    application = job_id(job).replace("job_", "application_", 1)
    for local in local_dirs:
        for path in _outputs(local.resolve(), application):
            users.add(path.parents[_USER_LEVEL].name)
            files.setdefault(path.parent.name, {}).setdefault(path.name, path)
    where = ", ".join(map(str, local_dirs))
    if not files:
        hint = "it is removed when the job ends; ask on the node where the map ran, as its user"
        raise BadInput(f"no map output of {job} on this node", where=where, hint=hint)
    if len(users) > 1:
        what = f"users {', '.join(map(shown, sorted(users)))} have map output of {job} here"
        hint = "a job has one user: ask as the job's user, who enters no other's directory"
        raise BadInput(what, where=where, hint=hint)
    return [_attempt(name, found) for name, found in sorted(files.items())]


def _outputs(local: Path, application: str) -> Iterator[Path]:
    pattern = f"usercache/*/appcache/{application}/output/attempt_*/file.out*"
    for path in sorted(local.glob(pattern)):
        # A user owns the directories below its own: a link there leads elsewhere.
        is_inside = path.parent.resolve() == path.parent
        if is_inside and path.name in (DATA, INDEX) and _MAP_ATTEMPT.fullmatch(path.parent.name):
            yield path


def _attempt(name: str, files: dict[str, Path]) -> NodeAttempt:
    directory = next(iter(files.values())).parent
    missing = [file for file in (DATA, INDEX) if file not in files]
    if missing:
        return NodeAttempt(name, directory, damage=f"{missing[0]} is missing")
    try:
        size = _size(files[DATA])
        segments = parse_index(_read(files[INDEX]), size)
    except Damaged as wrong:
        return NodeAttempt(name, files[DATA].parent, damage=str(wrong))
    return NodeAttempt(name, files[DATA].parent, segments)


def _size(path: Path) -> int:
    descriptor = _open(path)
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _read(path: Path) -> bytes:
    with os.fdopen(_open(path), "rb") as stream:
        if os.fstat(stream.fileno()).st_size > _LARGEST_INDEX:
            raise Damaged(f"{path.name}: too large for an index")
        try:
            return stream.read(_LARGEST_INDEX)
        except OSError as wrong:
            raise Damaged(f"{path.name}: {wrong.strerror}") from wrong


def _open(path: Path) -> int:
    try:
        return open_regular(path)
    except FileNotFoundError as gone:
        raise VasError("was removed: the job has ended", where=shown(path)) from gone
    except Damaged as wrong:
        raise Damaged(f"{path.name}: {wrong}") from wrong


def node_reducers(attempts: Iterable[NodeAttempt]) -> list[NodeReducer]:
    """Returns a row for each reducer, summed over the first intact attempt of each map."""
    first = {each.task: each for each in reversed(list(attempts)) if not each.damage}
    known = list(first.values())
    partitions = max((len(each.segments) for each in known), default=0)
    found = []
    for partition in range(partitions):
        of = [each.segments[partition] for each in known if partition < len(each.segments)]
        raw, stored = sum(s.raw_bytes for s in of), sum(s.stored_bytes for s in of)
        found.append(NodeReducer(partition, len(of), raw, stored))
    return found


def verify_on_node(attempt: NodeAttempt, *, encrypted: bool) -> Iterator[OutputDamage]:
    """Yields the damage of one attempt. Raises VasError where the disk fails.

    The checksum of an encrypted segment lies within the encryption, so `encrypted` compares
    lengths alone.
    """
    if attempt.damage:
        yield OutputDamage(attempt.name, INDEX, attempt.damage)
        return
    if encrypted:
        return
    path = attempt.directory / DATA
    try:
        descriptor = _open(path)
    except Damaged as wrong:
        yield OutputDamage(attempt.name, DATA, str(wrong))
        return
    try:
        for partition, segment in enumerate(attempt.segments):
            if not _is_intact(descriptor, path, segment):
                what = "wrong checksum (or encrypted: say --encrypted)"
                yield OutputDamage(attempt.name, DATA, what, segment.start, partition)
    finally:
        os.close(descriptor)


def _is_intact(descriptor: int, path: Path, segment: NodeSegment) -> bool:
    """Tells whether a segment's last bytes are its checksum; one without bytes has none."""
    if segment.stored_bytes < _CHECKSUM_BYTES:
        return segment.stored_bytes == 0
    at, end, found = segment.start, segment.start + segment.stored_bytes - _CHECKSUM_BYTES, 0
    while at < end:
        data = _pread(descriptor, min(_READ_BYTES, end - at), at, path)
        if not data:
            return False
        found = zlib.crc32(data, found)
        at += len(data)
    return _pread(descriptor, _CHECKSUM_BYTES, end, path) == found.to_bytes(_CHECKSUM_BYTES, "big")


def _pread(descriptor: int, size: int, offset: int, path: Path) -> bytes:
    try:
        return os.pread(descriptor, size, offset)
    except OSError as wrong:
        raise VasError(f"cannot be read: {wrong.strerror}", where=shown(path)) from wrong
