"""Threads as the kernel has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vas_affinity.cpulist import parse_cpulist
from vas_affinity.reading.files import Files
from vas_affinity.record.tasks import TICKS_PER_SECOND, TaskStat, parse_stat

_NANOSECONDS = 1_000_000_000


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
    stat = _stat(files, f"proc/{pid}/stat")
    if stat is None:
        return None
    words = (files.text(f"proc/{pid}/cmdline") or "").split("\0")
    return Process(pid, stat.name, tuple(words) if words != [""] else (), stat.parent)


def _task(files: Files, pid: int, tid: int) -> Task | None:
    at = f"proc/{pid}/task/{tid}"
    stat, status = _stat(files, f"{at}/stat"), files.text(f"{at}/status")
    if stat is None or status is None:
        return None
    said = dict(line.partition(":")[::2] for line in status.splitlines())
    spent = (files.text(f"{at}/schedstat") or "").split()
    left = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
    return Task(
        tid=tid,
        pid=pid,
        name=stat.name,
        start=stat.start,
        # A tick is 10 ms; the scheduler's own count, where the kernel has it, is exact.
        cpu_ns=int(spent[0]) if spent else stat.ticks * _NANOSECONDS // TICKS_PER_SECOND,
        switches=sum(int(said.get(key, "0")) for key in left),
        last_cpu=stat.cpu,
        allowed=parse_cpulist(said.get("Cpus_allowed_list", "")),
    )


def _stat(files: Files, path: str) -> TaskStat | None:
    text = files.text(path)
    return parse_stat(text) if text else None
