"""Samples the threads of processes again and again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from vas_affinity.machine.reading.tasks import (
    TICKS_PER_SECOND,
    TaskStat,
    migrations_of,
    read_task,
    tids_of,
)
from vas_affinity.machine.topology import Nearness
from vas_affinity.watch.thread_keys import ThreadKeys
from vas_affinity.watch.top.rows import Look, ThreadId, ThreadRow, rows
from vas_core.root import Root


@dataclass
class Looking:
    """Samples threads, and keeps the last sample to compare the next one with.

    A thread that used no CPU since then does not have its migrations read.
    """

    root: Root
    pids: Callable[[], Sequence[int]]
    nearest: Mapping[int, Nearness]
    names: ThreadKeys
    _last: dict[ThreadId, Look] = field(default_factory=dict)
    _at: float = 0.0

    def rows(self) -> list[ThreadRow]:
        """Samples the threads and returns their changes since the last call; none at the first."""
        now, at = self._look(), time.monotonic()
        found = rows(self._last, now, at - self._at, TICKS_PER_SECOND, self.nearest)
        self._last, self._at = now, at
        return found

    def _look(self) -> dict[ThreadId, Look]:
        found: dict[ThreadId, Look] = {}
        for pid in self.pids():
            for tid in tids_of(self.root, pid):
                stat = read_task(self.root, pid, tid)
                if stat is not None:
                    found[tid, stat.start] = self._one(self.names.key(pid, stat), pid, stat)
        return found

    def _one(self, key: str, pid: int, stat: TaskStat) -> Look:
        name = self.names.full_name(stat)
        last = self._last.get((stat.tid, stat.start))
        if last and (last.stat.ticks, last.stat.cpu) == (stat.ticks, stat.cpu):
            return Look(key, pid, stat, last.migrations, name)
        return Look(key, pid, stat, migrations_of(self.root, pid, stat.tid), name)


def all_processes(root: Root) -> list[int]:
    """Returns every process but this one.

    Kernel threads are included: an OSS's service threads are such.
    """
    names = os.listdir(root.path("proc"))  # noqa: PTH208
    return [int(name) for name in names if name.isdecimal() and int(name) != os.getpid()]
