"""Programs that other work on the machine is not to delay: daemons, with the priority that their
unit lets them ask for, and what measures them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from vas_core.process import run

_REAL_TIME = ("chrt", "--rr", "1")


def promptly(argv: Sequence[str]) -> list[str]:
    """The command at the priority that `vas-routed` asks for; as it is where that may not be."""
    return [*_REAL_TIME, *argv] if may_be_prompt() else [*argv]


@cache
def may_be_prompt() -> bool:
    """Tells whether this user may give a program that priority."""
    return run([*_REAL_TIME, "true"], check=False).status == 0
