"""Notices the new threads of some processes by looking often, where process events are not heard.

/proc/loadavg ends with the number that the kernel gave last to a process or thread: as long as it
stays the same, nothing is new on the whole machine, and nothing else has to be read.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from io import FileIO

from vas_affinity.machine.reading.tasks import tids_of
from vas_core.root import Root

SCAN_SECONDS = 0.04
_AGAIN_SECONDS = (0.0, 0.03, 0.11, 0.24, 0.49)
"""When a new thread is returned, after it was noticed: its name may be set later."""
_MOST_FRESH = 256
_LONGEST_BYTES = 200


@dataclass
class TaskScan:
    """The threads of some processes, as last seen."""

    root: Root
    _file: FileIO | None = None
    _last: bytes | None = None
    _known: dict[int, set[int]] = field(default_factory=dict)
    _fresh: dict[tuple[int, int], list[float]] = field(default_factory=dict)

    def new(self, pids: Collection[int], now: float) -> list[tuple[int, int]]:
        """Returns (process, thread) of new threads, and some of the next half second again.

        `now` is in seconds of a clock that never goes back.
        """
        last = self._last_number()
        if last != self._last or pids != self._known.keys():
            self._last = last
            self._scan(pids, now)
        return [thread for thread in list(self._fresh) if self._is_due(thread, now)]

    def _is_due(self, thread: tuple[int, int], now: float) -> bool:
        times = self._fresh[thread]
        left = [at for at in times if at > now]
        if left:
            self._fresh[thread] = left
        else:
            del self._fresh[thread]
        return len(left) < len(times)

    def _last_number(self) -> bytes:
        if self._file is None:
            self._file = self.root.path("proc/loadavg").open("rb", buffering=0)
        return os.pread(self._file.fileno(), _LONGEST_BYTES, 0).rpartition(b" ")[2]

    def _scan(self, pids: Collection[int], now: float) -> None:
        known = {pid: set(tids_of(self.root, pid)) for pid in pids}
        for pid, tids in known.items():
            for tid in sorted(tids - self._known.get(pid, set())):
                if len(self._fresh) >= _MOST_FRESH:
                    self._last = None  # the next scan notices the rest
                    tids.discard(tid)
                else:
                    self._fresh[pid, tid] = [now + later for later in _AGAIN_SECONDS]
        self._known = known
        self._fresh = {
            one: at for one, at in self._fresh.items() if one[1] in known.get(one[0], ())
        }
