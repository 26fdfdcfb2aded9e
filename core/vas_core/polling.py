"""Waits for a state, by asking for it again and again until a deadline."""

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
    """Calls `look` until `wanted` is true of what it returns, and returns that.

    `what` names the wait in the message. Raises VasError, with the last value of `look`, after
    `timeout_seconds`.
    """
    deadline = time.monotonic() + timeout_seconds
    while not wanted(seen := look()):
        if time.monotonic() > deadline:
            raise VasError(f"waited {timeout_seconds:g} s for {what}; last seen: {seen}")
        time.sleep(_INTERVAL_SECONDS)
    return seen
