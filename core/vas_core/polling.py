"""Waits for a state by polling."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from vas_core.errors import VasError

Seen = TypeVar("Seen")
_INTERVAL_SECONDS = 0.1


def poll(
    look: Callable[[], Seen], wanted: Callable[[Seen], bool], timeout_seconds: float, what: str
) -> Seen:
    """Calls `look` until it returns what is wanted, and returns that.

    Raises VasError with the last thing seen when that takes longer than `timeout_seconds`.
    """
    deadline = time.monotonic() + timeout_seconds
    while not wanted(seen := look()):
        if time.monotonic() > deadline:
            raise VasError(f"waited {timeout_seconds:g} s for {what}; last seen: {seen}")
        time.sleep(_INTERVAL_SECONDS)
    return seen
