"""Remembers threads that must be looked at again some time after they were noticed."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from math import inf

ThreadOf = tuple[int, int]
"""A process and one of its threads."""


@dataclass
class Again:
    """At most `most` threads, each due at all of `after_seconds` from when it was added."""

    after_seconds: tuple[float, ...]
    most: int
    _times: dict[ThreadOf, list[float]] = field(default_factory=dict)

    def add(self, thread: ThreadOf, now: float) -> bool:
        """Adds a thread unless it waits already; returns False if the queue has no room for it."""
        if thread not in self._times and len(self._times) >= self.most:
            return False
        self._times.setdefault(thread, [now + later for later in self.after_seconds])
        return True

    def due(self, now: float) -> list[ThreadOf]:
        """Returns the threads of which a time has come, and drops those of which all have."""
        found = [thread for thread, times in self._times.items() if times[0] <= now]
        for thread in found:
            left = [at for at in self._times.pop(thread) if at > now]
            if left:
                self._times[thread] = left
        return found

    def next_at(self) -> float:
        """Returns the next time at which a thread is due; infinite without one."""
        return min((times[0] for times in self._times.values()), default=inf)

    def keep(self, living: Mapping[int, Container[int]]) -> None:
        """Drops the threads that are not among these: process -> threads."""
        self._times = {
            (pid, tid): at for (pid, tid), at in self._times.items() if tid in living.get(pid, ())
        }
