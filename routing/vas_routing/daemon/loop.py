"""Runs the daemon's one thread: kernel events, probes, timers, signals, changed files."""

from __future__ import annotations

import logging
import selectors
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from vas_core.daemon_shell import DaemonShell
from vas_core.errors import BadInput
from vas_core.files import make_directories
from vas_core.inforce import InForce
from vas_core.notify import notify
from vas_routing.daemon.announce import Announcer
from vas_routing.daemon.events import Disturbed, Events, LinkChange, Overflow
from vas_routing.daemon.inputs import Inputs
from vas_routing.daemon.keyring import Keyring
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.daemon.node import LiveNode
from vas_routing.daemon.privileges import give_up_priority
from vas_routing.daemon.refusals import Refusals
from vas_routing.daemon.resources import DaemonResources
from vas_routing.daemon.saved_state import SavedState, read_saved_state
from vas_routing.daemon.sockets import LegSockets
from vas_routing.daemon.trust import Refusal
from vas_routing.drained import read_drained
from vas_routing.links import Leg

log = logging.getLogger("vas-routed")
_FILES_SECONDS = 0.5
_FIRST_CHECK_SECONDS, _CHECK_SECONDS = 1.0, 30.0
_SETTLE_SECONDS = 0.1


def map_reader() -> ThreadPoolExecutor:
    """Returns a pool of one thread, at the usual priority, that reads and keeps the map.

    Its initializer does not raise: that would break the pool, and end the daemon at its next
    reading.
    """

    def initialize() -> None:
        if not give_up_priority():
            log.warning("the map is read at real-time priority")

    return ThreadPoolExecutor(1, "map", initializer=initialize)


class RouteDaemon:
    """Runs one node by the inputs that `told` reads, or has kept.

    Raises as `told.start` does if neither can be used, OSError if sockets or `state` cannot be
    opened.
    """

    def __init__(
        self,
        told: InForce[Inputs],
        keyring: Keyring,
        state: Path,
        announcer: Announcer,
        metrics: RouteMetrics,
    ) -> None:
        self._told, self._keyring, self._state = told, keyring, state
        selector = selectors.DefaultSelector()
        self._shell = DaemonShell(told, selector)
        self._reader = map_reader()
        self._reading: Future[Inputs] | None = None
        refusals = Refusals(metrics)
        sockets = LegSockets(selector, self._on_probes, metrics)
        self._resources = DaemonResources(announcer, metrics, sockets, refusals)
        make_directories(self._state)
        self._events = Events()
        self._shell.watch(self._events.fileno(), self._on_events)
        keyring.read()
        saved = read_saved_state(self._state)
        self._inputs = told.start(lambda read: self._start(read, saved))
        if told.is_current:
            self._reader.submit(told.keep, self._inputs)
        self._check_at = time.monotonic() + _FIRST_CHECK_SECONDS
        self._files_at = 0.0

    def run(self) -> None:
        """Watches the node's paths until SIGTERM or SIGINT; routes stay as they are afterwards."""
        self._ask_at = time.monotonic()
        self._shell.run(self._step, self._read_again, lambda: self._ask_at - time.monotonic())
        self._live.save()
        self._reader.shutdown()

    def _step(self, now: float) -> None:
        if self._reading is not None and self._reading.done():
            self._take(self._reading)
        if now >= self._ask_at:
            self._live.prober.ask(now)
            self._ask_at = max(self._ask_at + self._live.interval, now)
            self._on_tick(now)
        self._live.evaluate(now)

    def _start(self, told: Inputs, saved: SavedState) -> None:
        """Puts new inputs in force. Until the sockets are taken over, the node before is whole."""
        node = told.node(self._state)
        live = LiveNode(node, told.choices, self._keyring.keys, self._resources, saved)
        live.detector.drained = self._drained(saved.drained)
        live.open()
        self._live, self._events.protocol = live, told.settings.protocol
        now = time.monotonic()
        live.detector.evaluate(now)
        live.apply(now)
        log.info("routes are right", extra={"node": node.name, "peers": len(live.here.peers)})

    def _on_probes(self, leg: Leg) -> None:
        self._live.prober.receive(leg, time.monotonic())

    def _on_events(self) -> None:
        for event in self._events.read():
            if isinstance(event, LinkChange):
                mine = self._live.on_link_change(event)
                self._live.evaluate(time.monotonic())
                if mine:
                    self._refresh("interface")
            elif isinstance(event, Overflow):
                self._refresh("overflow")
            elif isinstance(event, Disturbed):
                self._check_soon()

    def _refresh(self, cause: str) -> None:
        self._resources.metrics.resyncs.labels(cause).inc()
        self._live.refresh()
        self._check_soon()

    def _check_soon(self) -> None:
        self._check_at = min(self._check_at, time.monotonic() + _SETTLE_SECONDS)

    def _on_tick(self, now: float) -> None:
        self._live.watch_carriers()
        self._resources.announcer.run(now)
        if now >= self._check_at:
            self._check_at = now + _CHECK_SECONDS
            self._live.check()
        if now >= self._files_at:
            self._files_at = now + _FILES_SECONDS
            self._now_and_then(now)

    def _now_and_then(self, now: float) -> None:
        notify("WATCHDOG=1")
        self._live.drain(self._drained(self._live.detector.drained), now)
        sockets, refusals = self._resources.sockets, self._resources.refusals
        sockets.retry()
        refusals.note(Refusal.DROPPED, times=sockets.dropped())
        refusals.report(now)
        if self._reading is None and self._shell.is_reload_due(now):
            self._read_again()

    def _read_again(self) -> None:
        """Lets another thread read the map: a large one takes seconds, and peers wait for
        answers."""
        self._shell.begin_reload()
        self._reading = self._reader.submit(self._told.load)

    def _take(self, reading: Future[Inputs]) -> None:
        self._reading = None
        before = self._live

        def use() -> Inputs:
            self._keyring.read()
            inputs = reading.result()
            self._start(inputs, before.saved_state())
            self._inputs = inputs
            return inputs

        if not self._shell.end_reload(use, lambda read: self._reader.submit(self._told.keep, read)):
            self._hold(before)

    def _hold(self, before: LiveNode) -> None:
        """Goes on as before; with new keys, if there are some and the node can be made with them.

        Where it cannot (an interface is gone), the keys of before hold too, which is an alarm; the
        next reading of the files tries again.
        """
        if self._keyring.keys != before.keys:
            try:
                self._start(self._inputs, before.saved_state())
            except Exception as wrong:  # whatever it is, as above
                self._keyring.hold_off(wrong, before.keys)
            else:
                return
        self._live = before
        before.open()

    def _drained(self, held: frozenset[Leg]) -> frozenset[Leg]:
        try:
            return read_drained(self._state)
        except BadInput as wrong:
            log.error("drained", extra={"what": str(wrong)})
            return held
