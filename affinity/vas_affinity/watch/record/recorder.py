"""Samples the threads of processes into a recording."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from vas_affinity.machine.reading.tasks import TaskStat, migrations_of, parse_stat, tids_of
from vas_affinity.watch.record.recording import End, Header, Recorded
from vas_affinity.watch.thread_keys import ThreadKeys
from vas_core.root import Root

_LOOK_FOR_THREADS_SECONDS = 0.5  # at most; at first more often: a program starts its threads
_COUNTED_AT_ONCE = 64  # /proc/PID/task/TID/sched costs some 30 us to read
_STAT_BYTES = 1024


@dataclass
class _Followed:
    """A thread whose stat file is held open: a pread is half the price of open, read, close."""

    thread: Recorded
    descriptor: int
    last: tuple[int, int]
    migrations_before: int | None


@dataclass
class Recorder:
    """Follows the threads of the processes that `pids` returns; it is called twice a second."""

    root: Root
    stream: TextIO
    pids: Callable[[], Sequence[int]]
    names: ThreadKeys
    followed: dict[tuple[int, int], _Followed] = field(default_factory=dict)
    samples: int = 0
    _count: int = 0
    _migrations: dict[int, int] = field(default_factory=dict)

    def record(self, header: Header, going_on: Callable[[float], bool]) -> End:
        """Writes samples at the header's interval while `going_on(seconds)` is true.

        Ends also when no thread is left. Returns the recording's last line.
        """
        self._write(header.model_dump(mode="json"))
        started, cpu = time.monotonic(), time.process_time()
        now, looked = 0.0, -_LOOK_FOR_THREADS_SECONDS
        while going_on(now):
            fresh: list[list[int]] = []
            if now - looked >= min(_LOOK_FOR_THREADS_SECONDS, now / 4):
                fresh, looked = self._look(), now
            self._sample(now, fresh)
            if not self.followed:
                break
            due = (int(now / header.interval_seconds) + 1) * header.interval_seconds
            time.sleep(max(0.0, due - (time.monotonic() - started)))
            now = time.monotonic() - started
        self._count_migrations(list(self.followed.values()))
        self._forget(list(self.followed.values()))
        end = End(
            seconds=round(now, 4),
            samples=self.samples,
            recorder_cpu_seconds=round(time.process_time() - cpu, 4),
            migrations=self._migrations,
        )
        self._write(end.model_dump(mode="json"))
        return end

    def _look(self) -> list[list[int]]:
        """Follows new threads, and reads the migrations of a part of all threads."""
        fresh = [
            line
            for pid in self.pids()
            for tid in tids_of(self.root, pid)
            if (pid, tid) not in self.followed and (line := self._open(pid, tid))
        ]
        everyone = list(self.followed.values())
        parts = -(-len(everyone) // _COUNTED_AT_ONCE) or 1
        self._count_migrations(everyone[self.samples % parts :: parts])
        return fresh

    def _open(self, pid: int, tid: int) -> list[int] | None:
        try:
            path = self.root.path(f"proc/{pid}/task/{tid}/stat")
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            stat = _stat_of(descriptor)
        except (FileNotFoundError, ProcessLookupError):
            return None
        number, self._count = self._count, self._count + 1
        thread = self._introduce(number, pid, stat)
        before = migrations_of(self.root, pid, tid)
        self.followed[pid, tid] = _Followed(thread, descriptor, (stat.cpu, stat.ticks), before)
        return [thread.thread, stat.cpu, stat.ticks]

    def _introduce(self, number: int, pid: int, stat: TaskStat) -> Recorded:
        """Writes a thread's identity: when it is first seen, and when it changes its name."""
        thread = Recorded(
            thread=number,
            tid=stat.tid,
            pid=pid,
            key=self.names.key(pid, stat),
            name=stat.name,
            start=stat.start,
            full_name=self.names.full_name(stat),
        )
        self._write(thread.model_dump(mode="json", exclude_none=True))
        return thread

    def _sample(self, now: float, fresh: Sequence[list[int]]) -> None:
        on, gone = list(fresh), []
        for followed in self.followed.values():
            try:
                stat = _stat_of(followed.descriptor)
            except ProcessLookupError:
                gone.append(followed)
                continue
            if stat.name != followed.thread.name:
                number, pid = followed.thread.thread, followed.thread.pid
                followed.thread = self._introduce(number, pid, stat)
            if (stat.cpu, stat.ticks) != followed.last:
                followed.last = stat.cpu, stat.ticks
                on.append([followed.thread.thread, stat.cpu, stat.ticks])
        self._forget(gone)
        line: dict[str, Any] = {"t": round(now, 4), "on": on}
        self._write(line | ({"ended": [one.thread.thread for one in gone]} if gone else {}))
        self.samples += 1

    def _forget(self, gone: Sequence[_Followed]) -> None:
        for followed in gone:
            os.close(followed.descriptor)
            del self.followed[followed.thread.pid, followed.thread.tid]

    def _count_migrations(self, some: Iterable[_Followed]) -> None:
        for followed in some:
            thread, before = followed.thread, followed.migrations_before
            count = migrations_of(self.root, thread.pid, thread.tid)
            if count is not None and before is not None:
                self._migrations[thread.thread] = count - before

    def _write(self, line: dict[str, Any]) -> None:
        self.stream.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")


def _stat_of(descriptor: int) -> TaskStat:
    return parse_stat(os.pread(descriptor, _STAT_BYTES, 0).decode(errors="replace"))
