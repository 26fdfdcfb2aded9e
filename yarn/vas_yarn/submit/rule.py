"""Chooses a job's profile if the user names none. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from vas_core.sizes import format_size

# A TeraSort whose largest task has this much took less time and CPU with C1 than with C2; from
# the other size on a task runs long enough for C2, and wants more memory (docs/submit.md).
SHORT_BYTES = 256 << 20
LONG_BYTES = 1 << 30
# The application master of profile short has a heap of 400 MB: enough for some thousand tasks.
MOST_SHORT_MAPS = 2000


@dataclass(frozen=True)
class Input:
    """The size of a job's input, and of the largest part that one map reads, in bytes."""

    total: int
    largest_split: int


@dataclass(frozen=True)
class Choice:
    """A chosen profile, and the reason."""

    profile: str
    why: str


def choose(found: Input | None, reducers: int) -> Choice:
    """Chooses a profile by the size of the largest task: a map's split or a reducer's share.

    `found` is None if the size of the input is not known.
    """
    if found is None:
        return Choice("default", "the size of its input is not known")
    reducer = found.total // max(1, reducers)
    largest = max(found.largest_split, reducer)
    kind = "map" if largest == found.largest_split else "reducer"
    why = f"a {kind} has up to {format_size(largest)}"
    maps = found.total // max(1, found.largest_split)
    if largest <= SHORT_BYTES and maps > MOST_SHORT_MAPS:
        return Choice("default", f"{why}, but there are some {maps} maps to look after")
    if largest <= SHORT_BYTES:
        return Choice("short", f"{why}, at most {format_size(SHORT_BYTES)}")
    if largest >= LONG_BYTES:
        return Choice("long", f"{why}, at least {format_size(LONG_BYTES)}")
    return Choice("default", why)
