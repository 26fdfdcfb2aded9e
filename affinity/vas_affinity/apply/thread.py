"""The setting of a thread's CPUs: sched_setaffinity(2). Other users' need CAP_SYS_NICE."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

from vas_affinity.apply.setting import Gone, Immovable, Value
from vas_affinity.machine.cpulist import format_cpulist, parse_cpulist
from vas_affinity.machine.reading.tasks import read_task
from vas_core.errors import VasError
from vas_core.root import Root

KIND = "thread"
_PF_NO_SETAFFINITY = 0x04000000  # include/linux/sched.h


def started(root: Root, tid: int) -> int | None:
    """Returns when a thread started, in clock ticks after boot; None if it does not exist."""
    found = read_task(root, tid, tid)
    return found.start if found else None


def key_of(tid: int | None, start: int | None) -> str:
    """Returns the name of a thread's setting in the journal."""
    return f"{KIND}:{tid}:{start}"


@dataclass(frozen=True)
class ThreadCpus:
    """The CPUs of the thread `tid` that started at `start`: the kernel reuses thread ids.

    `name` is for the reader only: the key leaves it out, as a thread's name may change.
    """

    tid: int
    start: int
    name: str
    root: Root

    @property
    def key(self) -> str:
        return key_of(self.tid, self.start)

    @property
    def what(self) -> str:
        return f"thread {self.tid}" + (f" ({self.name})" if self.name else "")

    def read(self) -> Value:
        """Returns the mask without the CPUs that the cpuset forbids. Raises Gone if it ended."""
        self._check()
        try:
            return format_cpulist(os.sched_getaffinity(self.tid))
        except ProcessLookupError:
            raise self._gone() from None

    def write(self, value: Value) -> None:
        """Changes the mask.

        Raises Gone if the thread ended, Immovable if the kernel binds it to its CPUs, VasError if
        its cpuset has none of the CPUs.
        """
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


def thread_of_key(rest: str, root: Root) -> ThreadCpus:
    """Returns the setting of a journal key; `rest` is the key without its kind."""
    tid, start = map(int, rest.split(":"))
    found = read_task(root, tid, tid)
    name = found.name if found and found.start == start else ""
    return ThreadCpus(tid, start, name, root)
