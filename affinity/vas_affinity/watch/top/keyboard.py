"""Keys of the terminal for the live view of `vas affinity top`."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def keys() -> Iterator[None]:
    """Delivers keys as they are pressed, without showing them, while the context lasts."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def quit_within(seconds: float) -> bool:
    """Waits `seconds`, or until a key is pressed; tells whether that key was q."""
    if not sys.stdin.isatty():
        select.select([], [], [], seconds)
        return False
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(ready) and os.read(sys.stdin.fileno(), 64).lower().startswith(b"q")
