"""Threads as the kernel has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vas_affinity.cpulist import parse_cpulist
from vas_affinity.reading.files import Files

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_NANOSECONDS = 1_000_000_000
# proc(5)'s numbers of these fields of `stat`, less those before and at the name in parentheses.
_PARENT, _UTIME, _STIME, _START, _PROCESSOR = (field - 3 for field in (4, 14, 15, 22, 39))


@dataclass(frozen=True)
class Task:
    """A thread at a moment. `start` is in ticks since boot, `cpu_ns` and `switches` since then."""

    tid: int
    pid: int
    name: str
    start: int
    cpu_ns: int
    switches: int
    last_cpu: int
    allowed: tuple[int, ...]


@dataclass(frozen=True)
class Process:
    """A process: its name, arguments and parent. A kernel thread has no arguments."""

    pid: int
    name: str
    arguments: tuple[str, ...]
    parent: int

    @property
    def program(self) -> str:
        """What to call it: a JVM by the class or jar it runs, others by their name."""
        return main_class(self.arguments) or self.name


def processes(files: Files) -> list[Process]:
    """All that run, by number."""
    pids = sorted(int(name) for name in files.names("proc") if name.isdecimal())
    found = (_process(files, pid) for pid in pids)
    return [process for process in found if process]


def tasks(files: Files, pid: int) -> list[Task]:
    """A process' threads, by number; those that end meanwhile are left out."""
    tids = sorted(int(name) for name in files.names(f"proc/{pid}/task") if name.isdecimal())
    found = (_task(files, pid, tid) for tid in tids)
    return [task for task in found if task]


def main_class(arguments: tuple[str, ...]) -> str | None:
    """`NodeManager` of `java -cp ... org.apache...NodeManager`; None if it is no `java`."""
    if not arguments or arguments[0].rpartition("/")[2] != "java":
        return None
    rest = iter(arguments[1:])
    for word in rest:
        if word == "-jar":
            return next(rest, "").rpartition("/")[2].removesuffix(".jar") or None
        if word in ("-cp", "-classpath", "--class-path", "-p", "--module-path"):
            next(rest, None)
        elif not word.startswith(("-", "@")):
            return word.rpartition(".")[2].rpartition("/")[2]
    return None


def uses(before: Iterable[Task], after: Iterable[Task], seconds: float) -> Mapping[int, float]:
    """CPUs that each thread used meanwhile, by tid: 1.0 is a whole one."""
    pairs = _same(before, after)
    if seconds <= 0:
        return {}
    return {b.tid: max(0, b.cpu_ns - a.cpu_ns) / _NANOSECONDS / seconds for a, b in pairs}


def switches(before: Iterable[Task], after: Iterable[Task], seconds: float) -> Mapping[int, float]:
    """How often each thread left its CPU in a second, by tid."""
    pairs = _same(before, after)
    return {b.tid: (b.switches - a.switches) / seconds for a, b in pairs} if seconds > 0 else {}


def _same(before: Iterable[Task], after: Iterable[Task]) -> list[tuple[Task, Task]]:
    """A tid with another start is another thread."""
    first = {(task.tid, task.start): task for task in before}
    return [(first[t.tid, t.start], t) for t in after if (t.tid, t.start) in first]


def _process(files: Files, pid: int) -> Process | None:
    stat = _stat(files.text(f"proc/{pid}/stat"))
    if stat is None:
        return None
    name, fields = stat
    words = (files.text(f"proc/{pid}/cmdline") or "").split("\0")
    return Process(pid, name, tuple(words) if words != [""] else (), int(fields[_PARENT]))


def _task(files: Files, pid: int, tid: int) -> Task | None:
    at = f"proc/{pid}/task/{tid}"
    stat, status = _stat(files.text(f"{at}/stat")), files.text(f"{at}/status")
    if stat is None or status is None:
        return None
    name, fields = stat
    said = dict(line.partition(":")[::2] for line in status.splitlines())
    spent = (files.text(f"{at}/schedstat") or "").split()
    ticks = int(fields[_UTIME]) + int(fields[_STIME])
    left = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
    return Task(
        tid=tid,
        pid=pid,
        name=name,
        start=int(fields[_START]),
        # A tick is 10 ms; the scheduler's own count, where the kernel has it, is exact.
        cpu_ns=int(spent[0]) if spent else ticks * _NANOSECONDS // _TICKS_PER_SECOND,
        switches=sum(int(said.get(key, "0")) for key in left),
        last_cpu=int(fields[_PROCESSOR]),
        allowed=parse_cpulist(said.get("Cpus_allowed_list", "")),
    )


def _stat(text: str | None) -> tuple[str, list[str]] | None:
    """The name, which may hold blanks and parentheses, and the fields behind it."""
    head, found, rest = (text or "").rpartition(")")
    fields = rest.split()
    if not found or len(fields) <= _PROCESSOR:
        return None
    return head.partition("(")[2], fields
