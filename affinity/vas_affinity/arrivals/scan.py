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
_FRESH_SECONDS = 0.5
_MOST_FRESH = 256
_LONGEST_BYTES = 200


@dataclass
class TaskScan:
    """The threads of some processes, as last seen."""

    root: Root
    _file: FileIO | None = None
    _last: bytes | None = None
    _known: dict[int, set[int]] = field(default_factory=dict)
    _fresh: dict[tuple[int, int], float] = field(default_factory=dict)

    def new(self, pids: Collection[int], now: float) -> list[tuple[int, int]]:
        """Returns (process, thread) of new threads, and again for half a second: names come later.

        `now` is in seconds of a clock that never goes back.
        """
        for thread, until in list(self._fresh.items()):
            if until < now:
                del self._fresh[thread]
        last = self._last_number()
        if last != self._last or pids != self._known.keys():
            self._last = last
            self._scan(pids, now + _FRESH_SECONDS)
        return list(self._fresh)

    def _last_number(self) -> bytes:
        if self._file is None:
            self._file = self.root.path("proc/loadavg").open("rb", buffering=0)
        return os.pread(self._file.fileno(), _LONGEST_BYTES, 0).rpartition(b" ")[2]

    def _scan(self, pids: Collection[int], until: float) -> None:
        known = {pid: set(tids_of(self.root, pid)) for pid in pids}
        for pid, tids in known.items():
            for tid in sorted(tids - self._known.get(pid, set())):
                if len(self._fresh) >= _MOST_FRESH:
                    self._last = None  # the next scan notices the rest
                    tids.discard(tid)
                else:
                    self._fresh[pid, tid] = until
        self._known = known
        self._fresh = {one: at for one, at in self._fresh.items() if one[1] in known[one[0]]}
