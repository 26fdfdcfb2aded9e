"""Finds the directory of a lab, and whether a lab runs in it."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ValidationError

from vas_core.errors import BadInput, VasError
from vas_core.predictable_names import LAB_LOCK
from vas_core.repository import labs_directory, state_directory
from vas_core.safe_open import is_locked, open_own
from vas_lab.disk import disk_error

_LOCK = LAB_LOCK.of()
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_DEFAULT_NAME = "lab"
# Whoever only looks holds the lock, shared, for a moment.
_TAKE_TRIES = 20
_TAKE_PAUSE_SECONDS = 0.01


class Running(BaseModel):
    """Facts about a running lab, as seen from outside; `supervisor` is its process id there."""

    supervisor: int
    started: float
    up_seconds: float


def running_file(state_dir: Path) -> Path:
    """Returns the file that keeps facts about the last start of a lab."""
    return state_dir / "running.json"


def last_up_seconds(state_dir: Path) -> float | None:
    """Returns the seconds of a lab's last start; None if not known."""
    try:
        return Running.model_validate_json(running_file(state_dir).read_bytes()).up_seconds
    except (OSError, ValidationError):
        return None


def labs() -> list[str]:
    """Returns the names of all labs, whether they are up or not."""
    return sorted(path.parent.name for path in labs_directory().glob(f"*/{_LOCK}"))


def labs_up() -> list[str]:
    """Returns the names of the labs that are up or starting. Raises VasError if a lab's directory
    cannot be read."""
    return [name for name in labs() if is_running(default_directory(name))]


def default_directory(name: str) -> Path:
    """Returns the directory of the lab of that name. Raises BadInput for a wrong name."""
    if not _NAME.fullmatch(name):
        raise BadInput(
            "not a lab's name",
            where=f"--name {name}",
            hint="use letters, digits, '_', '.' and '-', a letter or digit first",
        )
    return state_directory(name)


def name_option(state_dir: Path) -> str:
    """Returns the option ` --name NAME` that names a directory's lab; empty for the default."""
    return "" if state_dir.name == _DEFAULT_NAME else f" --name {state_dir.name}"


@contextmanager
def hold(state_dir: Path) -> Iterator[int]:
    """Takes the lock of a lab that is about to start; yields it for the lab's processes.

    It is held as long as one of them lives. Raises VasError if another lab holds it, or if its
    file cannot be made.
    """
    descriptor = _take(state_dir)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def wipe(state_dir: Path) -> None:
    """Deletes a lab's directory; no lab can start in it meanwhile.

    Does nothing if there is none. Raises VasError if the lab is up, if the directory is not a
    lab's, and if a file cannot be deleted.
    """
    if not state_dir.exists() and not state_dir.is_symlink():
        return
    if state_dir.is_symlink() or not (state_dir / _LOCK).is_file():
        raise VasError("not a lab's directory", where=str(state_dir), hint="delete it yourself")
    with hold(state_dir):
        try:
            for path in state_dir.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                elif path.name != _LOCK:
                    path.unlink()
            (state_dir / _LOCK).unlink()
            state_dir.rmdir()
        except OSError as refused:
            raise VasError(f"not deleted: {refused.strerror}", where=refused.filename) from refused


def is_running(state_dir: Path) -> bool:
    """Returns whether a lab's process, of any user, lives in that directory.

    Raises VasError if the directory cannot be read.
    """
    try:
        return is_locked(state_dir / _LOCK)
    except FileNotFoundError:
        return False
    except OSError as refused:
        raise disk_error(refused, state_dir) from refused


def is_starting(state_dir: Path) -> bool:
    """Returns whether a lab runs in that directory and is not up yet. Raises VasError if the
    directory cannot be read."""
    return is_running(state_dir) and not running_file(state_dir).exists()


def _take(state_dir: Path) -> int:
    for _ in range(_TAKE_TRIES):
        descriptor = _make_lock(state_dir)
        if _lock(descriptor) and _is_at(descriptor, state_dir / _LOCK):
            return descriptor
        os.close(descriptor)
        time.sleep(_TAKE_PAUSE_SECONDS)
    raise VasError(
        f"a lab is {'starting' if is_starting(state_dir) else 'up'} already",
        where=str(state_dir),
        hint=f"end it by `vas lab down{name_option(state_dir)}`, "
        "or start another by `vas lab up --name NAME`",
    )


def _make_lock(state_dir: Path) -> int:
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        # Writable: an exclusive lock on NFS needs that.
        return open_own(state_dir / _LOCK, os.O_RDWR | os.O_CREAT, mode=0o644)
    except OSError as refused:
        raise disk_error(refused, state_dir) from refused


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether it is still that file: a lab that was wiped takes its lock along."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
