"""Gives programs real-time priority, so that other work on the machine does not delay them.

These are daemons, whose units let them ask for it, and the programs that measure them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from vas_core.process import run

_REAL_TIME = ("chrt", "--rr", "1")


def promptly(argv: Sequence[str]) -> list[str]:
    """Returns the command line that runs a program at the priority that `vas-routed` asks for.

    It is `argv` itself where this user may not give that priority.
    """
    return [*_REAL_TIME, *argv] if may_be_prompt() else [*argv]


@cache
def may_be_prompt() -> bool:
    """Tells whether this user may give a program real-time priority."""
    return run([*_REAL_TIME, "true"], check=False).status == 0
