"""The staging root on disk. Every name is reached by directory handles, never through a link."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_yarn.shuffle.job import SHUFFLE

QUARANTINE = ".vas-quarantine"
JANITOR = ".vas-janitor"
_MEMORY = "over.json"
# As Hadoop writes an id: one that a ResourceManager cannot parse, or takes for another job's, would
# be a doubt about every directory.
_JOB = re.compile(r"job_[1-9][0-9]{0,17}_([0-9]{4}|[1-9][0-9]{4,8})")
_LIKE_A_JOB = re.compile(r"job_\d+_\d+")
_QUARANTINED = re.compile(rf"{re.escape(QUARANTINE)}\.{_JOB.pattern}\.([0-9]+)")
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
        name = f"{QUARANTINE}.{found.job}.{now_ms}"
        with ExitStack() as stack:
            staging = self._staging(found.user, stack)
            os.rename(found.job, name, src_dir_fd=staging, dst_dir_fd=staging)
            moved = os.stat(name, dir_fd=staging, follow_symlinks=False)
            if (moved.st_dev, moved.st_ino) != found.inode:
                os.rename(name, found.job, src_dir_fd=staging, dst_dir_fd=staging)
                raise VasError("another directory took its place; left alone", where=found.job)

    def delete(self, found: Quarantined) -> None:
        """Removes what is in quarantine. Raises OSError."""
        assert shutil.rmtree.avoids_symlink_attacks
        with ExitStack() as stack:
            shutil.rmtree(found.name, dir_fd=self._staging(found.user, stack))

    def remembered(self) -> dict[str, int]:
        """Job -> when it ended, as an earlier run wrote it; empty when it cannot be read."""
        try:
            with self._own() as own:
                descriptor = os.open(_MEMORY, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=own)
            with os.fdopen(descriptor) as stream:
                read = json.load(stream)
        except (FileNotFoundError, ValueError):
            return {}
        pairs = read.items() if isinstance(read, dict) else ()
        return {job: ended for job, ended in pairs if isinstance(ended, int)}

    def remember(self, over: Mapping[str, int]) -> None:
        """Writes what `remembered` reads."""
        self._make_own()
        with self._own() as own:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            descriptor = os.open(f"{_MEMORY}.tmp", flags, 0o600, dir_fd=own)
            with os.fdopen(descriptor, "w") as stream:
                json.dump(over, stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.rename(f"{_MEMORY}.tmp", _MEMORY, src_dir_fd=own, dst_dir_fd=own)

    def _make_own(self) -> None:
        try:
            os.mkdir(JANITOR, 0o700, dir_fd=self._root)
        except FileExistsError:
            return

    @contextmanager
    def _own(self) -> Iterator[int]:
        with _opened(JANITOR, self._root) as descriptor:
            status = os.fstat(descriptor)
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
                raise VasError(
                    "is not a directory of this user alone (0700)",
                    where=str(self.root / JANITOR),
                    hint="remove it, or run as its owner",
                )
            yield descriptor


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
