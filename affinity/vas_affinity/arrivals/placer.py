"""The thread of `vas-affinityd` that places new threads when they appear."""

from __future__ import annotations

import logging
import os
import select
import threading
import time
from collections.abc import Iterator, Mapping, Sequence

from vas_affinity.apply.local_host import LocalHost
from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_affinity.apply.thread import key_of, started
from vas_affinity.arrivals.adopt import (
    Arrival,
    adopted,
    base_of,
    thread_pins,
    unplaced,
    without,
)
from vas_affinity.arrivals.again import Again
from vas_affinity.arrivals.budget import CpuBudget
from vas_affinity.arrivals.metrics import ArrivalMetrics, Lost
from vas_affinity.arrivals.notices import Noticed, Notices
from vas_affinity.arrivals.processes import PlanProcesses
from vas_affinity.arrivals.replanned import is_known, planned_pins
from vas_affinity.arrivals.shared import SharedPlan
from vas_affinity.arrivals.way import NoticeWay
from vas_affinity.placement import HostPlacement, Pin
from vas_core.errors import VasError

log = logging.getLogger("vas-affinityd")
CPU_SHARE = 0.008
_BURST_SECONDS = 0.3
_AGAIN_SECONDS = 1.0
_MOST_PINS = 2000
"""Most pins that new threads get, besides those that they take over."""
_RETRY_SECONDS = (0.1, 0.4, 1.5, 5.0, 15.0, 40.0)
"""When a thread for which no place was free is tried again: the one before it may end later."""
_MOST_WAITING = 256
_KEPT = (ApplyOutcome.CHANGED, ApplyOutcome.AS_DESIRED, ApplyOutcome.IMMOVABLE)


class ArrivalPlacer:
    """Places the new threads of a host in a thread of its own, until `stop`."""

    def __init__(
        self,
        host: LocalHost,
        processes: PlanProcesses,
        shared: SharedPlan,
        metrics: ArrivalMetrics,
        first: NoticeWay,
    ) -> None:
        self._host, self._processes, self._shared = host, processes, shared
        self._metrics, self._first = metrics, first
        self._version = 0
        self._mine: dict[tuple[int, int], str] = {}
        """(tid, start) -> key of the threads placed at their creation."""
        self._added: dict[str, Pin] = {}
        self._waiting = Again(_RETRY_SECONDS, _MOST_WAITING)
        self._ended: set[tuple[int, int | None]] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arrivals", daemon=True)

    def start(self) -> None:
        """Starts the thread that places new ones."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, and waits for its end."""
        self._stopping.set()
        self._shared.signal()
        self._thread.join()

    def _run(self) -> None:
        """Goes on whatever happens: a failure is logged and counted, and a look follows."""
        self._budget = CpuBudget(CPU_SHARE, _BURST_SECONDS)
        self._notices = Notices(self._processes, self._metrics, self._first)
        said = ""
        while not self._stopping.is_set():
            try:
                self._turn()
            except Exception as wrong:
                self._metrics.lost.labels(Lost.FAILED).inc()
                trace = None if isinstance(wrong, VasError | OSError) else wrong
                if said != (said := str(wrong)):
                    log.error("new threads", extra={"what": said}, exc_info=trace)
                self._notices.look_soon()
                self._stopping.wait(_AGAIN_SECONDS)
        self._notices.close()

    def _turn(self) -> None:
        before = time.thread_time()
        if self._budget.is_spent():
            self._rest()
            return
        self._wait()
        with self._shared.lock:
            plan, version = self._shared.plan, self._shared.version
        if version != self._version:
            self._version = version
            self._ended.clear()
            self._processes.use(plan)
            self._notices.look_now()
        noticed = self._notices.read(now := time.monotonic())
        for thread in self._waiting.due(now):
            noticed.threads.setdefault(thread, None)
        if plan is not None and (noticed.threads or noticed.way is NoticeWay.LOOK):
            self._place(noticed)
        self._metrics.lost.labels(Lost.OWNER).inc(self._processes.take_refused())
        self._metrics.cpu.inc(time.thread_time() - before)

    def _rest(self) -> None:
        """Waits until the CPU budget allows to go on. Events wait in the socket meanwhile."""
        self._metrics.lost.labels(Lost.BUDGET).inc()
        self._stopping.wait(self._budget.wait_seconds())

    def _wait(self) -> None:
        waiting = select.poll()
        waiting.register(self._shared.wake, select.POLLIN)
        if self._notices.connector is not None:
            waiting.register(self._notices.connector.socket, select.POLLIN)
        now = time.monotonic()
        wait = min(self._notices.wait_seconds(now), max(0.0, self._waiting.next_at() - now))
        ready = waiting.poll(1000 * wait)
        if any(number == self._shared.wake for number, _ in ready):
            os.eventfd_read(self._shared.wake)

    def _place(self, noticed: Noticed) -> None:
        arrivals = list(self._arrivals(noticed))
        with self._shared.lock:
            plan = self._shared.plan
            if plan is None:
                return
            if noticed.way is NoticeWay.LOOK:
                plan = self._forget_ended(plan)
            new = unplaced(plan, arrivals, self._mine)
            taken, others = adopted(plan, new, self._is_there)
            pins = [*taken, *self._planned(plan, others)]
            self._let_wait(plan, others)
            if not pins:
                return
            former = {pin.name: pin for pin in thread_pins(plan)}
            done = self._host.add(pins, [former[p.name] for p in taken])
            kept = list(_kept(pins, done))
            self._shared.add(kept)
        ended = sum(result.verdict is ApplyOutcome.SKIPPED for result in done)
        self._metrics.lost.labels(Lost.ENDED).inc(ended)
        self._metrics.lost.labels(Lost.FAILED).inc(len(pins) - len(kept) - ended)
        created = {tid: at_ns for (_, tid), at_ns in noticed.threads.items()}
        for pin in kept:
            self._note(pin, created, is_added=pin.name not in former)
        self._metrics.placed.labels(noticed.way).inc(len(kept))

    def _arrivals(self, noticed: Noticed) -> Iterator[Arrival]:
        same: dict[int, bool] = {}
        for pid, tid in noticed.threads:
            process = self._processes.found.get(pid)
            if process is None:
                continue
            if pid not in same:
                same[pid] = self._processes.is_same(process)
            arrival = self._processes.arrival(process, tid) if same[pid] else None
            if arrival is not None:
                yield arrival
            else:
                self._metrics.lost.labels(Lost.ENDED).inc()

    def _planned(self, plan: HostPlacement, others: Sequence[Arrival]) -> Iterator[Pin]:
        """Yields the pins that the planner gives to threads that take over none."""
        basis = self._shared.basis
        if basis is None:
            return
        new = [one for one in others if one.is_asked and not is_known(basis, one)]
        if not new:
            return
        for count, pin in enumerate(planned_pins(basis, plan, new, self._processes.threads())):
            if self._budget.is_spent() or len(self._added) + count >= _MOST_PINS:
                why = Lost.BUDGET if len(self._added) + count < _MOST_PINS else Lost.FULL
                self._metrics.lost.labels(why).inc(len(new) - count)
                return
            yield pin

    def _let_wait(self, plan: HostPlacement, others: Sequence[Arrival]) -> None:
        """Remembers the threads that would have a place if the one that has it ended."""
        bases = {base_of(pin) for pin in thread_pins(plan)} if others else set()
        for one in others:
            if one.base in bases:
                self._waiting.add((one.pid, one.tid), time.monotonic())

    def _forget_ended(self, plan: HostPlacement) -> HostPlacement:
        """Removes the planner's pins of threads that ended, which nobody takes over."""
        self._mine = {
            (tid, start): key
            for (tid, start), key in self._mine.items()
            if started(self._processes.root, tid) == start
        }
        self._ended.clear()  # of pins that are not in the plan any more, too
        ended = {name: pin for name, pin in self._added.items() if not self._is_there(pin)}
        if ended:
            self._host.add([], list(ended.values()))
            for name in ended:
                del self._added[name]
            self._shared.plan = plan = without(plan, ended)
        return plan

    def _is_there(self, pin: Pin) -> bool:
        """Tells whether a pin's thread runs. What ended does not come back, so it is kept."""
        if pin.tid is None or (pin.tid, pin.start) in self._ended:
            return False
        if started(self._processes.root, pin.tid) == pin.start:
            return True
        self._ended.add((pin.tid, pin.start))
        return False

    def _note(self, pin: Pin, created: Mapping[int, int | None], *, is_added: bool) -> None:
        assert pin.tid is not None and pin.start is not None
        self._mine[pin.tid, pin.start] = pin.name
        if is_added:
            self._added[pin.name] = pin
        if (at_ns := created.get(pin.tid)) is not None:
            self._metrics.delay.observe((time.monotonic_ns() - at_ns) / 1e9)


def _kept(pins: Sequence[Pin], done: Sequence[SettingResult]) -> Iterator[Pin]:
    """Yields the pins whose settings have the wanted value."""
    good = {result.key for result in done if result.verdict in _KEPT}
    for pin in pins:
        if key_of(pin.tid, pin.start) in good:
            yield pin
