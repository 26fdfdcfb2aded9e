"""A thread's CPUs, by sched_setaffinity(2). Other users' threads need CAP_SYS_NICE."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

from vas_affinity.apply.knob import Gone, Immovable, Value
from vas_affinity.cpulist import format_cpulist, parse_cpulist
from vas_affinity.record.tasks import read_task
from vas_core.errors import VasError
from vas_core.root import Root

KIND = "thread"
_PF_NO_SETAFFINITY = 0x04000000  # include/linux/sched.h


def started(root: Root, tid: int) -> int | None:
    """When a thread started, in clock ticks after boot; None if there is no such thread."""
    found = read_task(root, tid, tid)
    return found.start if found else None


@dataclass(frozen=True)
class ThreadKnob:
    """The thread `tid` that started at `start`: a later one of that number is another.

    `name` is for the reader only: the key has none, as a thread's name and ordinal may change.
    """

    tid: int
    start: int
    name: str
    root: Root

    @property
    def key(self) -> str:
        return f"{KIND}:{self.tid}:{self.start}"

    @property
    def what(self) -> str:
        return f"thread {self.tid}" + (f" ({self.name})" if self.name else "")

    def read(self) -> Value:
        """Its mask, less what its cpuset forbids."""
        self._check()
        try:
            return format_cpulist(os.sched_getaffinity(self.tid))
        except ProcessLookupError:
            raise self._gone() from None

    def write(self, value: Value) -> None:
        self._check()
        try:
            os.sched_setaffinity(self.tid, parse_cpulist(value or ""))
        except ProcessLookupError:
            raise self._gone() from None
        except OSError as refused:
            if refused.errno != errno.EINVAL:
                raise
            if self._is_bound():
                raise Immovable("the kernel binds this thread to its CPUs") from None
            raise VasError("its cpuset has none of these CPUs") from None

    def _check(self) -> None:
        if started(self.root, self.tid) != self.start:
            raise self._gone()

    def _is_bound(self) -> bool:
        found = read_task(self.root, self.tid, self.tid)
        return found is not None and bool(found.flags & _PF_NO_SETAFFINITY)

    def _gone(self) -> Gone:
        return Gone("the thread has ended")


def thread_of_key(rest: str, root: Root) -> ThreadKnob:
    """The knob of a journal's key, without its kind."""
    tid, start = map(int, rest.split(":"))
    found = read_task(root, tid, tid)
    name = found.name if found and found.start == start else ""
    return ThreadKnob(tid, start, name, root)
