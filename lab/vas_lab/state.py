"""The directory of a lab, and whether a lab runs in it."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ValidationError

from vas_core.errors import BadInput, VasError

_LOCK = "lock"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Running(BaseModel):
    """What is known from outside of a lab that runs; `supervisor` is its process id there."""

    supervisor: int
    started: float
    up_seconds: float


def running_file(state_dir: Path) -> Path:
    """Where the last start of a lab is noted."""
    return state_dir / "running.json"


def last_up_seconds(state_dir: Path) -> float | None:
    """How long the last start of that lab took, if it is known."""
    try:
        return Running.model_validate_json(running_file(state_dir).read_bytes()).up_seconds
    except (OSError, ValidationError):
        return None


def default_directory(name: str) -> Path:
    """build/lab/NAME, below the current directory. Raises BadInput for a name with a path in it."""
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} is not a lab's name",
            where="--name",
            hint="letters, digits, _, . and -, beginning with a letter or digit",
        )
    return Path.cwd() / "build/lab" / name


def wipe(state_dir: Path) -> None:
    """Deletes the directory of a lab that is down; refuses one that no lab was ever started in."""
    if not state_dir.exists():
        return
    if not (state_dir / _LOCK).is_file():
        raise BadInput("holds no lab", where=str(state_dir), hint="delete it by hand")
    with hold(state_dir):
        shutil.rmtree(state_dir)


@contextmanager
def hold(state_dir: Path) -> Iterator[int]:
    """The lock of a lab that is about to start, to be handed to its processes.

    It is theirs as long as one of them lives. Raises VasError when a lab holds it.
    """
    state_dir.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(state_dir / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _take(descriptor, fcntl.LOCK_EX):
            raise VasError(
                "a lab is up already",
                where=str(state_dir),
                hint=f"end it by `vas lab down --name {state_dir.name}`",
            )
        yield descriptor
    finally:
        os.close(descriptor)


def is_running(state_dir: Path) -> bool:
    """Whether a process of a lab in that directory lives."""
    try:
        descriptor = os.open(state_dir / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two who look do not see one another.
        return not _take(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _take(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
