"""Notices the new threads of some processes by looking often, where process events are not heard.

/proc/loadavg ends with the number that the kernel gave last to a process or thread: as long as it
stays the same, nothing is new on the whole machine, and nothing else has to be read.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from io import FileIO

from vas_affinity.arrivals.again import Again
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
    _fresh: Again = field(default_factory=lambda: Again(_AGAIN_SECONDS, _MOST_FRESH))

    def new(self, pids: Collection[int], now: float) -> list[tuple[int, int]]:
        """Returns (process, thread) of new threads, and some of the next half second again.

        `now` is in seconds of a clock that never goes back.
        """
        last = self._last_number()
        if last != self._last or pids != self._known.keys():
            self._last = last
            self._scan(pids, now)
        return self._fresh.due(now)

    def _last_number(self) -> bytes:
        if self._file is None:
            self._file = self.root.path("proc/loadavg").open("rb", buffering=0)
        return os.pread(self._file.fileno(), _LONGEST_BYTES, 0).rpartition(b" ")[2]

    def _scan(self, pids: Collection[int], now: float) -> None:
        known = {pid: set(tids_of(self.root, pid)) for pid in pids}
        for pid, tids in known.items():
            for tid in sorted(tids - self._known.get(pid, set())):
                if not self._fresh.add((pid, tid), now):
                    self._last = None  # the next scan notices the rest
                    tids.discard(tid)
        self._known = known
        self._fresh.keep(known)
