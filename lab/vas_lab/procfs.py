"""Reads processes, CPU time and memory from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from vas_core.root import Root

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class LabProcess:
    """A process; CPU ticks include those of its children that were waited for."""

    pid: int
    parent: int
    cpu_ticks: int
    rss_bytes: int


def processes(root: Root) -> Iterator[LabProcess]:
    """Yields every process; leaves out those that end meanwhile."""
    for path in root.glob("proc/[0-9]*/stat"):
        try:
            yield parse_stat(path.read_text(errors="replace"))
        except (FileNotFoundError, ProcessLookupError):
            continue


def children(root: Root, parent: int) -> list[int]:
    """Returns the process ids of a process' children."""
    return [process.pid for process in processes(root) if process.parent == parent]


def parse_stat(text: str) -> LabProcess:
    """Parses a process' /proc/PID/stat (proc(5))."""
    # The name stands in parentheses and may hold anything, parentheses included.
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    cpu = sum(int(field) for field in fields[11:15])  # utime, stime, cutime, cstime
    return LabProcess(int(head.split()[0]), int(fields[1]), cpu, int(fields[21]) * _PAGE_BYTES)


def cpu_seconds(root: Root) -> float:
    """Returns the CPU seconds of all processes of a PID namespace, ended ones included.

    The time of an ended process is added to that of the process inside that waited for it (PID 1
    at the latest), so the sum over the live ones misses nothing. Only processes that were started
    from outside (`vas lab shell`) no longer count after their end.
    """
    return sum(process.cpu_ticks for process in processes(root)) / _TICKS_PER_SECOND


def available_memory(root: Root) -> int:
    """Returns the memory that is available (MemAvailable), in bytes."""
    for line in (root.read("proc/meminfo") or "").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0
