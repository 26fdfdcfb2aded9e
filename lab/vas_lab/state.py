"""The directory of a lab, and whether a lab runs in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vas_core.errors import VasError

_LOCK = "lock"
DEFAULT_NAME = "lab"


def default_directory(name: str) -> Path:
    """build/lab/NAME, below the current directory."""
    return Path.cwd() / "build/lab" / name


@contextmanager
def hold(state_dir: Path) -> Iterator[int]:
    """The lock of a lab that is about to start, to be handed to its processes.

    It is theirs as long as one of them lives. Raises VasError when a lab holds it.
    """
    state_dir.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(state_dir / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _take(descriptor):
            raise VasError(
                "a lab is up already",
                where=str(state_dir),
                hint="end it by `vas lab down`, or give this one a --name",
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
        return not _take(descriptor)
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
