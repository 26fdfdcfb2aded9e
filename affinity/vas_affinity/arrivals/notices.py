"""Notices new threads of the plan's processes: by the kernel's events, or by a scan."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

from vas_affinity.arrivals.budget import CpuBudget
from vas_affinity.arrivals.events import ProcEvent, What
from vas_affinity.arrivals.listening import Heard, ProcConnector
from vas_affinity.arrivals.metrics import ArrivalMetrics, Lost
from vas_affinity.arrivals.processes import PlanProcesses
from vas_affinity.arrivals.scan import SCAN_SECONDS, TaskScan
from vas_affinity.arrivals.way import NoticeWay

log = logging.getLogger("vas-affinityd")
GATHER_SECONDS = 0.015
"""How long events are gathered before they are read: a new thread names itself first."""
LOOK_SECONDS = {NoticeWay.CONNECTOR: 60.0, NoticeWay.SCAN: 10.0, NoticeWay.LOOK: 60.0}
_LOOKS_APART_SECONDS = 5.0
PROGRAMS_SHARE = 0.004
"""Of a CPU, for looking at programs that start: half of what all of this may take."""
_PROGRAMS_BURST_SECONDS = 0.15


@dataclass
class Noticed:
    """Threads that may be new: (process, thread) -> when it was created, None if not known."""

    way: NoticeWay
    threads: dict[tuple[int, int], int | None] = field(default_factory=dict)


class Notices:
    """The source of new threads: the best way that is allowed, `first` at most.

    A look at all processes is made at the start, every minute, and after events were lost. Programs
    that start have a budget of their own: when it is spent, the kernel drops their events for a
    while, and those of the plan's processes are heard as before.
    """

    def __init__(self, processes: PlanProcesses, metrics: ArrivalMetrics, first: NoticeWay) -> None:
        self.processes, self._metrics, self._first = processes, metrics, first
        self.connector: ProcConnector | None = None
        self._scan = TaskScan(processes.root)
        self._look_at, self._looked_at = float("-inf"), float("-inf")
        self._filtered: tuple[frozenset[int], bool] | None = None
        self._on_programs = 0.0
        self._programs = CpuBudget(
            PROGRAMS_SHARE, _PROGRAMS_BURST_SECONDS, used=lambda: self._on_programs
        )
        self._programs_at = float("inf")
        self._broke = False
        self.way = NoticeWay.LOOK
        self.open()

    def open(self) -> None:
        """Takes the first way, or the next one if the kernel does not allow it."""
        self.way = self._first
        if self.way is NoticeWay.CONNECTOR:
            try:
                self.connector = ProcConnector()
                self._filtered = None
            except OSError as refused:
                self._fall_back(NoticeWay.SCAN, str(refused))
        self._metrics.use(self.way)

    def close(self) -> None:
        """Closes the socket, if there is one."""
        if self.connector is not None:
            self.connector.close()
            self.connector = None

    def wait_seconds(self, now: float) -> float:
        """Returns how long to wait for an event at most."""
        until = max(0.0, min(self._look_at, self._programs_at) - now)
        return min(SCAN_SECONDS, until) if self.way is NoticeWay.SCAN else until

    def look_soon(self) -> None:
        """Makes a look at all processes due, at most one every few seconds."""
        self._look_at = min(self._look_at, self._looked_at + _LOOKS_APART_SECONDS)

    def look_now(self) -> None:
        """Makes a look at all processes due at once."""
        self._look_at = float("-inf")

    def read(self, now: float) -> Noticed:
        """Returns what was noticed since the last call. Examines new programs.

        Raises OSError if /proc cannot be read, BadInput for a wrong pattern of processes.
        """
        new = self._programs_of_pause() if now >= self._programs_at else []
        if now >= self._look_at:
            noticed = self._look(now)
        elif self.connector is not None:
            noticed = self._heard(self.connector)
        else:
            found = (
                self._scan.new(self.processes.found.keys(), now)
                if self.way is NoticeWay.SCAN
                else ()
            )
            noticed = Noticed(self.way, dict.fromkeys(found))
        for pid in new:
            for tid in self.processes.threads().get(pid, ()):
                noticed.threads.setdefault((pid, tid), None)
        self._hear_of_processes()
        return noticed

    def _look(self, now: float) -> Noticed:
        self._looked_at, self._look_at = now, now + LOOK_SECONDS[self.way]
        self.processes.look()
        if self._broke:
            self._broke = False
            self.open()
        self._hear_of_processes()  # before their threads are listed: none is missed
        listed = self.processes.threads().items()
        return Noticed(NoticeWay.LOOK, {(pid, tid): None for pid, tids in listed for tid in tids})

    def _heard(self, connector: ProcConnector) -> Noticed:
        time.sleep(GATHER_SECONDS)
        before = time.thread_time()
        try:
            heard = connector.read()
        except OSError as broken:
            self.close()
            self._broke = True
            self._fall_back(NoticeWay.SCAN, str(broken))
            self.look_soon()
            return Noticed(self.way)
        self._count(heard)
        noticed = Noticed(NoticeWay.CONNECTOR)
        examined: set[int] = set()
        for event in heard.events:
            # After a loss a look follows within seconds, which examines all programs.
            if not heard.lost or event.pid in self.processes.found:
                self._take(event, noticed, examined)
        programs = sum(event.what is What.EXEC for event in heard.events)
        used = time.thread_time() - before
        self._on_programs += used * programs / max(1, len(heard.events))
        if self._programs_at == float("inf") and self._programs.is_spent():
            self._metrics.lost.labels(Lost.PROGRAMS).inc()
            self._programs_at = time.monotonic() + self._programs.wait_seconds()
        return noticed

    def _programs_of_pause(self) -> list[int]:
        """Hears of programs again; returns the plan's processes that appeared in the pause."""
        self._programs_at = float("inf")
        self._hear_of_processes()  # before the look: none is missed
        before = time.thread_time()
        new = self.processes.look_at_new()
        self._on_programs += time.thread_time() - before
        return new

    def _take(self, event: ProcEvent, noticed: Noticed, examined: set[int]) -> None:
        is_program = event.what is What.EXEC or event.pid == event.tid
        if event.what is What.ACK:
            return
        if is_program and event.pid not in examined:
            examined.add(event.pid)
            self.processes.examine(event.pid)
        if event.pid in self.processes.found:
            noticed.threads[event.pid, event.tid] = event.at_ns

    def _count(self, heard: Heard) -> None:
        self._metrics.lost.labels(Lost.FORGED).inc(heard.forged)
        self._metrics.lost.labels(Lost.MALFORMED).inc(heard.malformed)
        if heard.lost:
            self._metrics.lost.labels(Lost.OVERFLOW).inc()
            self.look_soon()

    def _hear_of_processes(self) -> None:
        wanted = frozenset(self.processes.found), self._programs_at == float("inf")
        if self.connector is not None and wanted != self._filtered:
            self.connector.hear_of(wanted[0], programs=wanted[1])
            self._filtered = wanted

    def _fall_back(self, way: NoticeWay, why: str) -> None:
        self.way = way
        self._metrics.fallbacks.labels(way).inc()
        self._metrics.use(way)
        log.warning("new threads are noticed another way", extra={"way": way.value, "why": why})
