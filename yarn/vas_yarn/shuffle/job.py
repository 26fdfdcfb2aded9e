"""Finds the map output of one job on Lustre, and reads what its map attempts published."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from vas_core.errors import BadInput, VasError
from vas_core.shown import shown
from vas_yarn.history import job_id
from vas_yarn.shuffle.manifest import OutputManifest, decode
from vas_yarn.shuffle.wire import Damaged

SHUFFLE = "shuffle"
MANIFEST = "manifest"
# Some 18 times that of a map of 100 GiB. Decoded, the smallest segments take 24 times as much.
_LARGEST_MANIFEST = 128 << 20
_ID = re.compile(r"(?:application|job)_\d+_\d+")
_MAP_ATTEMPT = re.compile(r"attempt_\d+_\d+_m_\d+_\d+")


@dataclass(frozen=True)
class ShuffleAttempt:
    """A map attempt's directory. Without manifest and damage it has not published (yet)."""

    path: Path
    manifest: OutputManifest | None
    damage: str | None = None

    @property
    def task(self) -> str:
        """The attempt's id without its last number; the same for all attempts of one map."""
        return self.path.name.rpartition("_")[0]

    @property
    def state(self) -> str:
        """The attempt's state: `published`, `damaged` or `unpublished`."""
        if self.damage:
            return "damaged"
        return "published" if self.manifest else "unpublished"


def find(job: str, staging: Path) -> Path:
    """Returns the `shuffle` directory of a job; `job` is its id or its directory.

    Raises BadInput if there is none, and if several users have a directory of this id: anybody
    can make one.
    """
    if not _ID.fullmatch(job):
        directory = Path(job)
        shuffle = directory if directory.name == SHUFFLE else directory / SHUFFLE
        if not shuffle.is_dir():
            raise BadInput("holds no map output", where=str(shuffle), hint="name a job's directory")
        return shuffle
    found = sorted(staging.glob(f"*/.staging/{job_id(job)}/{SHUFFLE}"))
    if len(found) > 1:
        places = ", ".join(shown(path.parent) for path in found)
        hint = "give the directory instead of the id"
        raise BadInput(f"{len(found)} users have it: {places}", where=job, hint=hint)
    if found:
        return found[0]
    closed = [path for path in staging.glob("*/.staging") if not os.access(path, os.R_OK | os.X_OK)]
    hint = (
        "it is removed when the job ends; name the staging directory with --staging; the output of"
        " jobs with --shuffle node or stock lies on the nodes' own disks: give --local there"
    )
    if closed:
        hint = f"{len(closed)} users' directories there are closed to you; or {hint}"
    raise BadInput(f"no map output of {job}", where=str(staging), hint=hint)


def attempts(shuffle: Path) -> Iterator[ShuffleAttempt]:
    """Yields every map attempt in a job's `shuffle` directory, in the order of names.

    Raises VasError if the file system fails: that is not damage.
    """
    try:
        found = sorted(path for path in shuffle.iterdir() if _MAP_ATTEMPT.fullmatch(path.name))
    except OSError as wrong:
        raise VasError(f"cannot be read: {wrong.strerror}", where=str(shuffle)) from wrong
    for path in found:
        yield _attempt(path)


def _attempt(path: Path) -> ShuffleAttempt:
    try:
        descriptor = open_regular(path / MANIFEST)
    except FileNotFoundError:
        return ShuffleAttempt(path, None)
    except Damaged as wrong:
        return ShuffleAttempt(path, None, f"{MANIFEST}: {wrong}")
    try:
        with os.fdopen(descriptor, "rb") as stream:
            manifest = decode(_all(stream))
    except Damaged as wrong:
        return ShuffleAttempt(path, None, f"{MANIFEST}: {wrong}")
    except OSError as wrong:
        raise VasError(f"cannot be read: {wrong.strerror}", where=str(path / MANIFEST)) from wrong
    if manifest.attempt != path.name:
        return ShuffleAttempt(path, None, f"{MANIFEST}: of another attempt, {manifest.attempt}")
    return ShuffleAttempt(path, manifest)


def _all(stream: BinaryIO) -> bytes:
    size = os.fstat(stream.fileno()).st_size
    if size > _LARGEST_MANIFEST:
        raise Damaged(f"{size} bytes are too many for a manifest")
    return stream.read(_LARGEST_MANIFEST)


def open_regular(path: Path) -> int:
    """Opens a regular file for reading, not through a link; returns a descriptor.

    Raises FileNotFoundError if there is none, Damaged for anything that is not a regular file,
    VasError if the file system fails.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as wrong:
        if path.is_symlink():
            raise Damaged("a symbolic link") from wrong
        raise VasError(f"cannot be read: {wrong.strerror}", where=str(path)) from wrong
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Damaged("not a regular file")
    return descriptor
