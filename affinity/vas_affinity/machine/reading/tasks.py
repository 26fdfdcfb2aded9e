"""Reads single threads from /proc, often and cheaply."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from io import FileIO

from vas_core.root import Root

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

_MIGRATIONS = re.compile(r"^se\.nr_migrations\s*:\s*(\d+)", re.MULTILINE)
# Fields of /proc/PID/stat after the name, which may hold anything: proc(5), from field 3.
_STATE, _PARENT, _FLAGS, _UTIME, _STIME, _START, _PROCESSOR = 0, 1, 6, 11, 12, 19, 36


@dataclass(frozen=True)
class TaskStat:
    """A line of /proc/PID/task/TID/stat.

    `ticks` is user and system time in units of 1/TICKS_PER_SECOND s; `flags` are the kernel's PF_*.
    """

    tid: int
    name: str
    state: str
    ticks: int
    start: int
    cpu: int
    flags: int = 0
    parent: int = 0


def parse_stat(line: str) -> TaskStat:
    """Parses a thread's stat line. Raises ValueError for anything else."""
    tid, _, rest = line.partition(" (")
    name, _, after = rest.rpartition(") ")
    fields = after.split()
    if len(fields) <= _PROCESSOR:
        raise ValueError(f"not a stat line: {line!r}")
    ticks = int(fields[_UTIME]) + int(fields[_STIME])
    start, cpu = int(fields[_START]), int(fields[_PROCESSOR])
    flags, parent = int(fields[_FLAGS]), int(fields[_PARENT])
    return TaskStat(int(tid), name, fields[_STATE], ticks, start, cpu, flags, parent)


def tids_of(root: Root, pid: int) -> list[int]:
    """Returns the threads of a process, ascending; none if it ended."""
    try:
        return sorted(map(int, os.listdir(root.path(f"proc/{pid}/task"))))  # noqa: PTH208
    except (FileNotFoundError, ProcessLookupError):
        return []


def read_task(root: Root, pid: int, tid: int) -> TaskStat | None:
    """Reads a thread's stat line; None if the thread ended."""
    text = read_gone(root, f"proc/{pid}/task/{tid}/stat")
    return parse_stat(text) if text else None


def migrations_of(root: Root, pid: int, tid: int) -> int | None:
    """Returns how often the kernel moved a thread so far; None if not known, or it ended."""
    found = _MIGRATIONS.search(read_gone(root, f"proc/{pid}/task/{tid}/sched") or "")
    return int(found[1]) if found else None


def read_gone(root: Root, relative: str) -> str | None:
    """Reads a file of /proc; None if its thread ended, before or while it is read."""
    try:
        return _live(relative) if root.is_live else root.read(relative)
    except (FileNotFoundError, ProcessLookupError, NotADirectoryError):
        return None


def _live(relative: str) -> str:
    """Reads a file of this machine as `Root.read` does, in a third of the time."""
    with FileIO(f"/{relative}") as file:
        return file.readall().decode(errors="surrogateescape").rstrip("\n")


def name_of(root: Root, pid: int) -> str:
    """Returns a process's name; `?` if it ended."""
    return read_gone(root, f"proc/{pid}/comm") or "?"


def descendants(root: Root, pid: int) -> list[int]:
    """Returns a process and its descendants, without those that left their parent."""
    found = [pid]
    for one in found:
        for tid in tids_of(root, one):
            children = read_gone(root, f"proc/{one}/task/{tid}/children") or ""
            found.extend(map(int, children.split()))
    return found
