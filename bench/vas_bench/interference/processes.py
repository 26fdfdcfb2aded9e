"""A lab's processes, as they are numbered outside of it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from vas_core.errors import VasError
from vas_core.root import Root


def outside(root: Root, supervisor: int, inside: Collection[int]) -> list[int]:
    """Returns the ids outside the lab of processes with these ids inside it, in their order.

    Raises VasError where one is not there. The kernel says both (`NSpid` in proc(5)); two labs
    have the same ids inside, so the PID namespace has to be the supervisor's.
    """
    namespace = root.link(f"proc/{supervisor}/ns/pid")
    found: dict[int, int] = {}
    for path in root.glob("proc/[0-9]*/status"):
        pid = int(path.parent.name)
        with suppress(OSError):  # it ended meanwhile
            if root.link(f"proc/{pid}/ns/pid") == namespace:
                found[_innermost(path.read_text(errors="replace"))] = pid
    missing = sorted(set(inside) - found.keys())
    if namespace is None or missing:
        raise VasError(f"process {missing[0] if missing else 1} is not there", where="lab")
    return [found[each] for each in inside]


def _innermost(status: str) -> int:
    line = next(line for line in status.splitlines() if line.startswith("NSpid:"))
    return int(line.split()[-1])
