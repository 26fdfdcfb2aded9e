"""Reads processes and threads from /proc."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vas_affinity.machine.cpulist import parse_cpulist
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.tasks import TICKS_PER_SECOND, TaskStat, parse_stat

_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class ThreadSample:
    """A thread at one moment. `start` is in ticks after boot.

    `cpu_ns` (CPU time, nanoseconds) and `switches` are counted since the thread's start.
    """

    tid: int
    pid: int
    name: str
    start: int
    cpu_ns: int
    switches: int
    last_cpu: int
    allowed: tuple[int, ...]


@dataclass(frozen=True)
class RunningProcess:
    """A process: its name, arguments and parent. A kernel thread has no arguments."""

    pid: int
    name: str
    arguments: tuple[str, ...]
    parent: int

    @property
    def program(self) -> str:
        """Returns the name to show: of a JVM its main class or jar, of others their name."""
        return main_class(self.arguments) or self.name


def processes(files: TreeFiles) -> list[RunningProcess]:
    """Returns all processes, ascending by number."""
    pids = sorted(int(name) for name in files.names("proc") if name.isdecimal())
    found = (_process(files, pid) for pid in pids)
    return [process for process in found if process]


def tasks(files: TreeFiles, pid: int) -> list[ThreadSample]:
    """Returns a process's threads, ascending by number, without those that end meanwhile."""
    tids = sorted(int(name) for name in files.names(f"proc/{pid}/task") if name.isdecimal())
    found = (_task(files, pid, tid) for tid in tids)
    return [task for task in found if task]


def main_class(arguments: tuple[str, ...]) -> str | None:
    """Returns the main class or jar of a `java` command line; None for another program.

    `NodeManager` for `java -cp ... org.apache...NodeManager`.
    """
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


def uses(
    before: Iterable[ThreadSample], after: Iterable[ThreadSample], seconds: float
) -> Mapping[int, float]:
    """Returns tid -> CPU use between two readings: 1.0 is a whole CPU."""
    pairs = _same(before, after)
    if seconds <= 0:
        return {}
    return {b.tid: max(0, b.cpu_ns - a.cpu_ns) / _NANOSECONDS / seconds for a, b in pairs}


def switches(
    before: Iterable[ThreadSample], after: Iterable[ThreadSample], seconds: float
) -> Mapping[int, float]:
    """Returns tid -> context switches per second between two readings."""
    pairs = _same(before, after)
    return {b.tid: (b.switches - a.switches) / seconds for a, b in pairs} if seconds > 0 else {}


def _same(
    before: Iterable[ThreadSample], after: Iterable[ThreadSample]
) -> list[tuple[ThreadSample, ThreadSample]]:
    """Pairs the samples of each thread: a tid with another start is another thread."""
    first = {(task.tid, task.start): task for task in before}
    return [(first[t.tid, t.start], t) for t in after if (t.tid, t.start) in first]


def _process(files: TreeFiles, pid: int) -> RunningProcess | None:
    stat = _stat(files, f"proc/{pid}/stat")
    if stat is None:
        return None
    words = (files.text(f"proc/{pid}/cmdline") or "").split("\0")
    return RunningProcess(pid, stat.name, tuple(words) if words != [""] else (), stat.parent)


def _task(files: TreeFiles, pid: int, tid: int) -> ThreadSample | None:
    at = f"proc/{pid}/task/{tid}"
    stat, status = _stat(files, f"{at}/stat"), files.text(f"{at}/status")
    if stat is None or status is None:
        return None
    said = dict(line.partition(":")[::2] for line in status.splitlines())
    spent = (files.text(f"{at}/schedstat") or "").split()
    left = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
    return ThreadSample(
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


def _stat(files: TreeFiles, path: str) -> TaskStat | None:
    text = files.text(path)
    return parse_stat(text) if text else None
