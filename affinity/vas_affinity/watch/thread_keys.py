"""Finds processes by patterns, and gives their threads keys (`snapshot.Thread.key`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.procfs import main_class, processes
from vas_affinity.machine.reading.tasks import TaskStat, name_of, read_gone
from vas_affinity.machine.reading.threads import named, no_process
from vas_affinity.machine.snapshot import Thread
from vas_core.root import Root

_LONGEST_NAME = 200
"""Characters of a name that are kept: a JVM's threads have names of any length."""


def find_processes(root: Root, patterns: Sequence[str]) -> list[int]:
    """Returns the processes that match a pattern (see `reading.threads.named`).

    Raises BadInput for a wrong pattern, NotHere if no process matches.
    """
    files = TreeFiles(root)
    _, chosen = named(files, processes(files), patterns)
    if not chosen:
        raise no_process(patterns)
    return [process.pid for process in chosen]


@dataclass
class ThreadKeys:
    """The keys of a snapshot's threads, and keys of the same form for threads that came later."""

    root: Root
    given: dict[tuple[int, int], str] = field(default_factory=dict)
    """(tid, start) -> key."""
    _full: dict[tuple[int, int], str] = field(default_factory=dict)
    _first: dict[tuple[int, int], str] = field(default_factory=dict)
    _made: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)
    _next: Counter[str] = field(default_factory=Counter)
    _programs: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Root, threads: Iterable[Thread] = ()) -> ThreadKeys:
        """Returns keys that begin with those of a snapshot's threads, and their full names."""
        names = cls(root)
        for thread in threads:
            names.given[thread.tid, thread.start] = thread.key
            names._full[thread.tid, thread.start] = thread.name[:_LONGEST_NAME]
            base, _, ordinal = thread.key.rpartition("/")
            if ordinal.isdecimal():
                names._next[base] = max(names._next[base], int(ordinal) + 1)
        return names

    def key(self, pid: int, stat: TaskStat) -> str:
        """Returns a thread's key. A later thread that changes its name gets another key."""
        thread = stat.tid, stat.start
        if thread in self.given:
            return self.given[thread]
        name, key = self._made.get(thread, ("", ""))
        if name != stat.name or not key:
            base = f"{self._program(pid)}/{stat.name}"
            key = f"{base}/{self._next[base]}"
            self._next[base] += 1
            self._made[thread] = stat.name, key
        return key

    def full_name(self, stat: TaskStat) -> str | None:
        """Returns a thread's name in the snapshot, which a JVM gave; None for the kernel's.

        None also once the kernel's name is another than at the first call: the thread was renamed.
        """
        thread = stat.tid, stat.start
        full = self._full.get(thread)
        if full is None or full == stat.name:
            return None
        return full if self._first.setdefault(thread, stat.name) == stat.name else None

    def _program(self, pid: int) -> str:
        if pid not in self._programs:
            words = (read_gone(self.root, f"proc/{pid}/cmdline") or "").split("\0")
            self._programs[pid] = main_class(tuple(words)) or name_of(self.root, pid)
        return self._programs[pid]


def label(key: str, full_name: str | None) -> str:
    """Returns a thread's key for people, with its full name in place of the kernel's 15 bytes."""
    if full_name is None:
        return key
    return f"{key.partition('/')[0]}/{full_name}/{key.rpartition('/')[2]}"
