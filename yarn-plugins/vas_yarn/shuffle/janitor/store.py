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
_MEMORY = "over.json"
_JOB = re.compile(r"job_\d+_\d+")
_QUARANTINED = re.compile(r"(job_\d+_\d+)\.(\d+)")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class JobDirectory:
    """A job's directory with map output in it, as it was found."""

    user: str
    job: str
    inode: tuple[int, int]
    """Device and inode number."""

    @property
    def where(self) -> str:
        """Its place below the staging root, for people."""
        return f"{self.user}/.staging/{self.job}"


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

    def jobs(self) -> Iterator[JobDirectory | Refused]:
        """Every job directory that holds map output."""
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

    def _of_user(self, user: str, staging: int) -> Iterator[JobDirectory | Refused]:
        owner = os.fstat(staging).st_uid
        for name in _names(staging):
            if not _JOB.fullmatch(name):
                continue
            try:
                with _opened(name, staging) as job:
                    os.stat(SHUFFLE, dir_fd=job, follow_symlinks=False)
                    why = self._strange(job, owner)
                    status = os.fstat(job)
            except FileNotFoundError:
                continue
            except OSError as wrong:
                yield Refused(f"{user}/.staging/{name}", _reason(wrong))
                continue
            yield (
                Refused(f"{user}/.staging/{name}", why)
                if why
                else JobDirectory(user, name, (status.st_dev, status.st_ino))
            )

    def _strange(self, job: int, owner: int) -> str | None:
        shuffle = os.stat(SHUFFLE, dir_fd=job, follow_symlinks=False)
        if not stat.S_ISDIR(shuffle.st_mode):
            return f"its {SHUFFLE} is not a directory"
        for status in (os.fstat(job), shuffle):
            if status.st_uid != owner:
                return f"belongs to uid {status.st_uid}, its staging directory to {owner}"
            if status.st_dev != self._device:
                return "lies on another file system"
        return None

    def _staging(self, user: str, stack: ExitStack) -> int:
        home = stack.enter_context(_opened(user, self._root))
        return stack.enter_context(_opened(".staging", home))

    def quarantined(self) -> list[tuple[str, int]]:
        """(Name, moved there at Unix ms) of what is in quarantine."""
        try:
            with self._quarantine() as quarantine:
                names = _names(quarantine)
        except FileNotFoundError:
            return []
        matches = (_QUARANTINED.fullmatch(name) for name in names)
        return [(match[0], int(match[2])) for match in matches if match]

    def move(self, found: JobDirectory, now_ms: int) -> None:
        """Renames a job's directory into the quarantine. Raises OSError or VasError."""
        self._make_quarantine()
        name = f"{found.job}.{now_ms}"
        with ExitStack() as stack:
            staging = self._staging(found.user, stack)
            quarantine = stack.enter_context(self._quarantine())
            os.rename(found.job, name, src_dir_fd=staging, dst_dir_fd=quarantine)
            moved = os.stat(name, dir_fd=quarantine, follow_symlinks=False)
            if (moved.st_dev, moved.st_ino) != found.inode:
                os.rename(name, found.job, src_dir_fd=quarantine, dst_dir_fd=staging)
                raise VasError("another directory took its place; left alone", where=found.job)

    def delete(self, name: str) -> None:
        """Removes what was moved to the quarantine. Raises OSError."""
        assert shutil.rmtree.avoids_symlink_attacks
        with self._quarantine() as quarantine:
            shutil.rmtree(name, dir_fd=quarantine)

    def remembered(self) -> dict[str, int]:
        """Job -> when it ended, as an earlier run wrote it; empty when it cannot be read."""
        try:
            with self._quarantine() as quarantine:
                descriptor = os.open(_MEMORY, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=quarantine)
            with os.fdopen(descriptor) as stream:
                read = json.load(stream)
        except (FileNotFoundError, ValueError):
            return {}
        pairs = read.items() if isinstance(read, dict) else ()
        return {job: ended for job, ended in pairs if isinstance(ended, int)}

    def remember(self, over: Mapping[str, int]) -> None:
        """Writes what `remembered` reads."""
        self._make_quarantine()
        with self._quarantine() as quarantine:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            descriptor = os.open(f"{_MEMORY}.tmp", flags, 0o600, dir_fd=quarantine)
            with os.fdopen(descriptor, "w") as stream:
                json.dump(over, stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.rename(f"{_MEMORY}.tmp", _MEMORY, src_dir_fd=quarantine, dst_dir_fd=quarantine)

    def _make_quarantine(self) -> None:
        try:
            os.mkdir(QUARANTINE, 0o700, dir_fd=self._root)
        except FileExistsError:
            return

    @contextmanager
    def _quarantine(self) -> Iterator[int]:
        with _opened(QUARANTINE, self._root) as descriptor:
            status = os.fstat(descriptor)
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
                raise VasError(
                    "is not a directory of this user alone (0700)",
                    where=str(self.root / QUARANTINE),
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


def _names(directory: int) -> list[str]:
    return sorted(os.listdir(directory))


def _reason(wrong: OSError) -> str:
    # ENOTDIR is also what O_DIRECTORY | O_NOFOLLOW says of a link.
    if isinstance(wrong, NotADirectoryError):
        return "is a link or no directory"
    return wrong.strerror or str(wrong)
