"""The staging root on disk. Every name is reached by directory handles, never through a link."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_core.predictable_names import (
    JANITOR,
    JANITOR_MEMORY,
    JANITOR_MEMORY_NEW,
    QUARANTINE_PREFIX,
    QUARANTINED,
)
from vas_core.safe_open import Planted, open_own, open_own_directory, read_own
from vas_yarn.shuffle.job import SHUFFLE

_MOST_MEMORY_BYTES = 64 << 20
# As Hadoop writes an id: one that a ResourceManager cannot parse, or takes for another job's, would
# be a doubt about every directory.
_JOB = re.compile(r"job_[1-9][0-9]{0,17}_([0-9]{4}|[1-9][0-9]{4,8})")
_LIKE_A_JOB = re.compile(r"job_\d+_\d+")
_QUARANTINED = re.compile(rf"{re.escape(QUARANTINE_PREFIX)}\.{_JOB.pattern}\.([0-9]+)")
_OWN = re.compile(rf"{re.escape(JANITOR.of())}(\.[0-9a-f]{{16}})?")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class JobDirectory:
    """A job's directory with map output in it, as it was found."""

    user: str
    job: str
    inode: tuple[int, int]
    """Device and inode number."""
    changed_ms: int
    """When it, its shuffle directory, or anything directly in that changed last (Unix ms)."""

    @property
    def where(self) -> str:
        """Its place below the staging root, for people."""
        return f"{self.user}/.staging/{self.job}"


@dataclass(frozen=True)
class Quarantined:
    """What was a job's directory until it was renamed, at `moved_ms` (Unix ms)."""

    user: str
    name: str
    moved_ms: int

    @property
    def job(self) -> str:
        """The id of the job whose directory it was."""
        return self.name.removeprefix(f"{QUARANTINE_PREFIX}.").rpartition(".")[0]

    @property
    def where(self) -> str:
        """Its place below the staging root, for people."""
        return f"{self.user}/.staging/{self.name}"


@dataclass(frozen=True)
class Refused:
    """Something that is not as a job leaves it. It stays."""

    where: str
    why: str


class StagingStore:
    """A staging root, held open. Raises BadInput if it is none."""

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            self._root = os.open(root, _DIRECTORY)
        except OSError as wrong:
            raise BadInput(
                f"cannot be opened: {wrong.strerror}",
                where=str(root),
                hint="name the real staging directory with --staging, no link to it",
            ) from wrong
        self._device = os.fstat(self._root).st_dev

    def close(self) -> None:
        """Lets the root go."""
        os.close(self._root)

    def entries(self) -> Iterator[JobDirectory | Quarantined | Refused]:
        """Every job directory that holds map output, and what is in quarantine."""
        for user in _names(self._root):
            if user.startswith("."):
                if _OWN.fullmatch(user) and (why := self._not_own(user)):
                    yield Refused(user, why)
                continue
            with ExitStack() as stack:
                try:
                    staging = self._staging(user, stack)
                except FileNotFoundError:
                    continue
                except OSError as wrong:
                    yield Refused(f"{user}/.staging", _reason(wrong))
                    continue
                yield from self._of_user(user, staging)

    def _of_user(self, user: str, staging: int) -> Iterator[JobDirectory | Quarantined | Refused]:
        owner = os.fstat(staging).st_uid
        for name in _names(staging):
            moved = _QUARANTINED.fullmatch(name)
            if not moved and not _LIKE_A_JOB.fullmatch(name):
                continue
            if not moved and not _JOB.fullmatch(name):
                yield Refused(f"{user}/.staging/{name}", "no job has this id")
                continue
            try:
                with _opened(name, staging) as job:
                    why = self._strange(job, owner, () if moved else (SHUFFLE,))
                    status = os.fstat(job)
                    changed_ms = (
                        status.st_mtime_ns // 1_000_000 if why or moved else _changed_ms(job)
                    )
            except FileNotFoundError:
                continue
            except OSError as wrong:
                yield Refused(f"{user}/.staging/{name}", _reason(wrong))
                continue
            if why:
                yield Refused(f"{user}/.staging/{name}", why)
            elif moved:
                yield Quarantined(user, name, int(moved[2]))
            else:
                yield JobDirectory(user, name, (status.st_dev, status.st_ino), changed_ms)

    def _strange(self, job: int, owner: int, children: tuple[str, ...]) -> str | None:
        below = [os.stat(name, dir_fd=job, follow_symlinks=False) for name in children]
        for name, status in zip(children, below, strict=True):
            if not stat.S_ISDIR(status.st_mode):
                return f"its {name} is not a directory"
        for status in (os.fstat(job), *below):
            if status.st_uid != owner:
                return f"belongs to uid {status.st_uid}, its staging directory to {owner}"
            if status.st_dev != self._device:
                return "lies on another file system"
        return None

    def _staging(self, user: str, stack: ExitStack) -> int:
        home = stack.enter_context(_opened(user, self._root))
        return stack.enter_context(_opened(".staging", home))

    def move(self, found: JobDirectory, now_ms: int) -> None:
        """Renames a job's directory, so that nobody finds it. Raises OSError or VasError.

        It stays in its user's directory: a rename into that of another project is EXDEV where
        quotas are by project.
        """
        name = QUARANTINED.of(job=found.job, moved_ms=now_ms)
        with ExitStack() as stack:
            staging = self._staging(found.user, stack)
            os.rename(found.job, name, src_dir_fd=staging, dst_dir_fd=staging)
            moved = os.stat(name, dir_fd=staging, follow_symlinks=False)
            if (moved.st_dev, moved.st_ino) != found.inode:
                os.rename(name, found.job, src_dir_fd=staging, dst_dir_fd=staging)
                raise VasError("another directory took its place; left alone", where=found.job)

    def begin_again(self, found: Quarantined, now_ms: int) -> None:
        """Renames what is in quarantine, as if moved at this time (Unix ms). Raises OSError."""
        name = QUARANTINED.of(job=found.job, moved_ms=now_ms)
        with ExitStack() as stack:
            staging = self._staging(found.user, stack)
            os.rename(found.name, name, src_dir_fd=staging, dst_dir_fd=staging)

    def delete(self, found: Quarantined) -> None:
        """Removes what is in quarantine. Raises OSError."""
        assert shutil.rmtree.avoids_symlink_attacks
        with ExitStack() as stack:
            shutil.rmtree(found.name, dir_fd=self._staging(found.user, stack))

    def remembered(self) -> dict[str, int]:
        """Returns job -> when it ended (Unix ms), as an earlier run wrote it; empty if none did.

        Raises Planted if the memory is no file of this user.
        """
        try:
            with self._own() as (own, path):
                read = json.loads(
                    read_own(path / JANITOR_MEMORY.of(), _MOST_MEMORY_BYTES, dir_fd=own)
                )
        except (FileNotFoundError, ValueError):
            return {}
        pairs = read.items() if isinstance(read, dict) else ()
        return {job: ended for job, ended in pairs if isinstance(ended, int)}

    def remember(self, over: Mapping[str, int]) -> None:
        """Writes what `remembered` reads."""
        self._make_own()
        memory, new = JANITOR_MEMORY.of(), JANITOR_MEMORY_NEW.of()
        with self._own() as (own, path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            descriptor = open_own(path / new, flags, dir_fd=own)
            with os.fdopen(descriptor, "w") as stream:
                json.dump(over, stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.rename(new, memory, src_dir_fd=own, dst_dir_fd=own)

    def _make_own(self) -> None:
        """Makes a directory for the memory if there is none of this user's alone.

        The staging root is open to everybody, so its first name may be taken by somebody else: then
        the name gets an ending that nobody can foresee.
        """
        if self._own_names():
            return
        try:
            os.mkdir(JANITOR.of(), 0o700, dir_fd=self._root)
        except FileExistsError:
            os.mkdir(f"{JANITOR.of()}.{secrets.token_hex(8)}", 0o700, dir_fd=self._root)

    def _own_names(self) -> list[str]:
        names = [name for name in _names(self._root) if _OWN.fullmatch(name)]
        return [name for name in names if self._not_own(name) is None]

    def _not_own(self, name: str) -> str | None:
        """Why this is not the janitor's directory; None if it is."""
        path = self.root / name
        try:
            os.close(open_own_directory(path, dir_fd=self._root))
        except Planted as wrong:
            return wrong.what
        except OSError as wrong:
            return _reason(wrong)
        return None

    @contextmanager
    def _own(self) -> Iterator[tuple[int, Path]]:
        """Opens the directory with the memory. Raises FileNotFoundError if there is none."""
        names = self._own_names()
        if not names:
            raise FileNotFoundError(errno.ENOENT, "no directory of the janitor", str(self.root))
        path = self.root / names[0]
        descriptor = open_own_directory(path, dir_fd=self._root)
        try:
            yield descriptor, path
        finally:
            os.close(descriptor)


@contextmanager
def _opened(name: str, parent: int) -> Iterator[int]:
    descriptor = os.open(name, _DIRECTORY, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _changed_ms(job: int) -> int:
    """The newest modification time of a job's directory and of what its attempts made, in ms."""
    newest = os.fstat(job).st_mtime_ns
    with _opened(SHUFFLE, job) as shuffle, os.scandir(shuffle) as attempts:
        newest = max(newest, os.fstat(shuffle).st_mtime_ns)
        for attempt in attempts:
            newest = max(newest, attempt.stat(follow_symlinks=False).st_mtime_ns)
    return newest // 1_000_000


def _names(directory: int) -> list[str]:
    return sorted(os.listdir(directory))


def _reason(wrong: OSError) -> str:
    # ENOTDIR is also what O_DIRECTORY | O_NOFOLLOW says of a link.
    if isinstance(wrong, NotADirectoryError):
        return "is a link or no directory"
    return wrong.strerror or str(wrong)
