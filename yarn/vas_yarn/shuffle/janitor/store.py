"""Reads and changes the staging root on disk, by directory handles and never through a link."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_core.predictable_names import QUARANTINE_PREFIX, QUARANTINED
from vas_yarn.shuffle.janitor.memory import JanitorMemory
from vas_yarn.shuffle.janitor.removal import DIRECTORY, Strange, Whose, names_in, remove
from vas_yarn.shuffle.job import SHUFFLE

MOST_DIRECTORIES = 10_000
"""The most directories of one user that one run looks at."""
MOST_ATTEMPTS = 100_000
"""The most attempts of one job that are looked at to find out when it changed last."""
# As Hadoop writes an id: one that a ResourceManager cannot parse, or takes for another job's, would
# be a doubt about every directory.
_JOB = re.compile(r"job_[1-9][0-9]{0,17}_([0-9]{4}|[1-9][0-9]{4,8})")
_LIKE_A_JOB = re.compile(r"job_\d+_\d+")
# As VAS's shuffle manager names the directory of one life of a driver.
_OF_SPARK = re.compile(r"application_\d+_\d+-\d+")
_QUARANTINED = re.compile(rf"{re.escape(QUARANTINE_PREFIX)}\.{_JOB.pattern}\.([0-9]+)")


@dataclass(frozen=True)
class JobDirectory:
    """A job's directory that holds map output, and its inode when it was found."""

    user: str
    job: str
    inode: tuple[int, int]
    """Device and inode number."""

    @property
    def where(self) -> str:
        """The directory's place below the staging root, for people."""
        return f"{self.user}/.staging/{self.job}"


@dataclass(frozen=True)
class Quarantined:
    """A job's directory that was renamed into the quarantine at `moved_ms` (Unix ms)."""

    user: str
    name: str
    moved_ms: int
    inode: tuple[int, int]
    """Device and inode number."""

    @property
    def job(self) -> str:
        """The id of the job that the directory belonged to."""
        return self.name.removeprefix(f"{QUARANTINE_PREFIX}.").rpartition(".")[0]

    @property
    def where(self) -> str:
        """The directory's place below the staging root, for people."""
        return f"{self.user}/.staging/{self.name}"


@dataclass(frozen=True)
class RefusedEntry:
    """An entry that is not as a job leaves it. The janitor does not touch it."""

    where: str
    why: str


Entry = JobDirectory | Quarantined | RefusedEntry


@dataclass
class OfUser:
    """The entries of one user's staging directory."""

    entries: list[Entry] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """The names of all entries with a job's name, looked at or not."""


class StagingStore:
    """A staging root, held open. Raises BadInput if `root` cannot be opened as a directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            self._root = os.open(root, DIRECTORY)
        except OSError as wrong:
            raise BadInput(
                f"cannot be opened: {wrong.strerror}",
                where=str(root),
                hint="name the real staging directory with --staging, no link to it",
            ) from wrong
        self._device = os.fstat(self._root).st_dev
        self._memory = JanitorMemory(root, self._root)

    def close(self) -> None:
        """Closes the descriptor of the root."""
        os.close(self._root)

    def entries(self) -> Iterator[Entry]:
        """Yields every job directory that holds map output, and the content of the quarantine."""
        for user in self.users():
            yield from user.entries

    def users(self) -> Iterator[OfUser]:
        """Yields each user's entries; first, as of no user, entries that only look like the
        janitor's memory."""
        yield OfUser([RefusedEntry(name, why) for name, why in self._memory.strangers()])
        for user in names_in(self._root):
            if user.startswith("."):
                continue
            found = OfUser()
            try:
                with self._staging(user) as (staging, whose):
                    for entry in self._of_user(user, staging, whose, found.names):
                        found.entries.append(entry)
            except FileNotFoundError:
                pass
            except (OSError, Strange) as wrong:
                found.entries.append(RefusedEntry(f"{user}/.staging", _reason(wrong)))
            yield found

    def _of_user(self, user: str, staging: int, whose: Whose, names: set[str]) -> Iterator[Entry]:
        like = [n for n in names_in(staging) if _LIKE_A_JOB.fullmatch(n) or _moved_ms(n)]
        names.update(like)
        if len(like) > MOST_DIRECTORIES:
            left = len(like) - MOST_DIRECTORIES
            # At random, so that none is always left.
            like = secrets.SystemRandom().sample(like, MOST_DIRECTORIES)
            why = f"holds {left} more than the {MOST_DIRECTORIES} directories of one run"
            yield RefusedEntry(f"{user}/.staging", f"{why}; the rest is for the next ones")
        for name in sorted(like):
            try:
                yield _entry(user, name, staging, whose)
            except FileNotFoundError:
                continue
            except (OSError, Strange) as wrong:
                yield RefusedEntry(f"{user}/.staging/{name}", _reason(wrong))

    @contextmanager
    def _staging(self, user: str) -> Iterator[tuple[int, Whose]]:
        """Opens a user's staging directory. Raises OSError, and Strange if it is not the user's.

        One that others may write into can have been moved here by them, with whatever its owner
        has in it. Hadoop makes it 0700.
        """
        with _opened(user, self._root) as home, _opened(".staging", home) as staging:
            status = os.fstat(staging)
            whose = Whose(status.st_uid, self._device)
            if why := whose.strange(status):
                raise Strange(why)
            if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise Strange("others than its owner may write into it; chmod 700 mends it")
            yield staging, whose

    def changed_ms(self, found: JobDirectory) -> int:
        """Returns when a job's directory, its shuffle directory or an attempt changed last.

        Of an application of Spark, its shuffles count as its attempts. The time is in Unix ms.
        Raises Strange if there are too many attempts to look at, or if the staging directory is not
        its user's alone; OSError if something cannot be read.
        """
        with self._staging(found.user) as (staging, _), _opened(found.job, staging) as job:
            times = [os.fstat(job).st_mtime_ns]
            with _opened(SHUFFLE, job) as shuffle:
                times += _times_ns(shuffle, MOST_ATTEMPTS)
                for name in filter(_OF_SPARK.fullmatch, names_in(shuffle)):
                    gone = suppress(FileNotFoundError, NotADirectoryError)
                    with gone, _opened(name, shuffle) as application:
                        times += _times_ns(application, max(0, MOST_ATTEMPTS - len(times)))
        return max(times) // 1_000_000

    def move(self, found: JobDirectory, now_ms: int) -> None:
        """Renames a job's directory into the quarantine. Raises OSError or VasError.

        It stays in its user's directory: with quotas by project, a rename into a directory of
        another project fails with EXDEV.
        """
        name = QUARANTINED.of(job=found.job, moved_ms=now_ms)
        with self._staging(found.user) as (staging, whose):
            with _opened(found.job, staging) as job:
                _check(job, whose, (SHUFFLE,), found.inode)
            os.rename(found.job, name, src_dir_fd=staging, dst_dir_fd=staging)
            moved = os.stat(name, dir_fd=staging, follow_symlinks=False)
            if (moved.st_dev, moved.st_ino) != found.inode:
                os.rename(name, found.job, src_dir_fd=staging, dst_dir_fd=staging)
                raise VasError("another directory took its place; left alone", where=found.job)

    def begin_again(self, found: Quarantined, now_ms: int) -> None:
        """Renames a directory in quarantine as if it had been moved there at `now_ms` (Unix ms).

        Raises OSError, and Strange if another directory took its place.
        """
        name = QUARANTINED.of(job=found.job, moved_ms=now_ms)
        with (
            self._staging(found.user) as (staging, whose),
            _opened(found.name, staging) as quarantined,
        ):
            _check(quarantined, whose, (), found.inode)
            os.rename(found.name, name, src_dir_fd=staging, dst_dir_fd=staging)

    def delete(self, found: Quarantined) -> None:
        """Removes a directory in quarantine.

        Raises Strange if it was replaced or if something in it must stay, OSError.
        """
        with (
            self._staging(found.user) as (staging, whose),
            _opened(found.name, staging) as quarantined,
        ):
            _check(quarantined, whose, (), found.inode)
            remove(found.name, staging, quarantined, whose)

    def remembered(self) -> dict[str, int]:
        """Returns job -> when it ended (Unix ms), as an earlier run wrote it; empty if none did.

        Raises Planted if the memory is not a file of this user, VasError if it is too long,
        OSError if it cannot be read.
        """
        return self._memory.read()

    def remember(self, over: Mapping[str, int]) -> None:
        """Writes job -> when it ended (Unix ms), for `remembered` of a later run.

        Raises OSError, and Planted if the file's name is taken by something else.
        """
        self._memory.write(over)


def _entry(user: str, name: str, staging: int, whose: Whose) -> Entry:
    moved_ms = _moved_ms(name)
    if not moved_ms and not _JOB.fullmatch(name):
        return RefusedEntry(f"{user}/.staging/{name}", "no job has this id")
    with _opened(name, staging) as job:
        _check(job, whose, () if moved_ms else (SHUFFLE,))
        status = os.fstat(job)
    inode = (status.st_dev, status.st_ino)
    if moved_ms:
        return Quarantined(user, name, int(moved_ms), inode)
    return JobDirectory(user, name, inode)


def _times_ns(directory: int, most: int) -> list[int]:
    """When a directory and its entries changed (Unix ns). Raises Strange for more than `most`."""
    with os.scandir(directory) as entries:
        times = [each.stat(follow_symlinks=False).st_mtime_ns for each in islice(entries, most)]
        if next(entries, None) is not None:
            raise Strange(f"has more than {MOST_ATTEMPTS} attempts")
    return [os.fstat(directory).st_mtime_ns, *times]


def _moved_ms(name: str) -> str | None:
    """When something was moved to the quarantine, by its name; None: it is not in it."""
    moved = _QUARANTINED.fullmatch(name)
    return moved[2] if moved else None


def _check(
    job: int, whose: Whose, children: tuple[str, ...], inode: tuple[int, int] | None = None
) -> None:
    """Raises Strange if an open directory is not its user's, or has another inode by now."""
    own = os.fstat(job)
    if inode not in (None, (own.st_dev, own.st_ino)):
        raise Strange("another directory took its place; left alone")
    below = [os.stat(name, dir_fd=job, follow_symlinks=False) for name in children]
    for name, status in zip(children, below, strict=True):
        if not stat.S_ISDIR(status.st_mode):
            raise Strange(f"its {name} is not a directory")
    for status in (own, *below):
        if why := whose.strange(status):
            raise Strange(why)


@contextmanager
def _opened(name: str, parent: int) -> Iterator[int]:
    descriptor = os.open(name, DIRECTORY, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _reason(wrong: OSError | Strange) -> str:
    if isinstance(wrong, Strange):
        return wrong.what
    # ENOTDIR is also what O_DIRECTORY | O_NOFOLLOW says of a link.
    if isinstance(wrong, NotADirectoryError):
        return "is a link or no directory"
    return wrong.strerror or str(wrong)
