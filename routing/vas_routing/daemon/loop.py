"""The daemon's one thread: the kernel's events, probes, timers, signals, changed files."""

from __future__ import annotations

import logging
import selectors
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_core.files import make_directories, stamp_of
from vas_core.notify import notify
from vas_core.signals import Signals
from vas_routing.daemon.events import Disturbed, Events, LinkChange, Overflow
from vas_routing.daemon.memory import Memory, read_memory
from vas_routing.daemon.node import LiveNode, Tools
from vas_routing.daemon.privileges import give_up_priority
from vas_routing.drained import read_drained
from vas_routing.links import Leg
from vas_routing.node import Node
from vas_routing.policy import Choices

log = logging.getLogger("vas-routed")
_FILES_SECONDS = 0.5
_FIRST_CHECK_SECONDS, _CHECK_SECONDS = 1.0, 30.0
_SETTLE_SECONDS = 0.1
_NODE_AND_CHOICES = Callable[[], tuple[Node, Choices]]


class Daemon:
    """Runs one node. `load` reads the map and what else `files` name; raises BadInput."""

    def __init__(self, load: _NODE_AND_CHOICES, files: Sequence[Path], tools: Tools) -> None:
        self._load, self._files, self._tools = load, files, tools
        self._selector = selectors.DefaultSelector()
        self._reader = ThreadPoolExecutor(1, "map", initializer=give_up_priority)
        self._reading: Future[tuple[Node, Choices]] | None = None
        self._stamps = self._stamps_now()
        node, choices = load()
        self._state, self._settings = node.state, node.kernel.settings
        make_directories(self._state)
        self._events = Events(self._settings.protocol)
        self._selector.register(self._events, selectors.EVENT_READ, self._on_events)
        self._live = self._start(node, choices, read_memory(self._state))
        self._check_at = time.monotonic() + _FIRST_CHECK_SECONDS
        self._files_at = 0.0

    def run(self) -> None:
        """Returns at SIGTERM or SIGINT; routes stay as they are."""
        signals = Signals(self._selector)
        interval = self._settings.probe_interval_ms / 1e3
        next_ask = time.monotonic()
        notify("READY=1")
        while not signals.stop:
            for key, _ in self._selector.select(max(0.0, next_ask - time.monotonic())):
                key.data()
            now = time.monotonic()
            if signals.take_reload():
                self._read_again()
            if self._reading is not None and self._reading.done():
                self._take(self._reading)
            if now >= next_ask:
                self._live.prober.ask(now)
                next_ask = max(next_ask + interval, now)
                self._on_tick(now)
            self._live.judge(now)
        notify("STOPPING=1")
        self._live.memory().write(self._state)

    def _start(self, node: Node, choices: Choices, memory: Memory) -> LiveNode:
        live = LiveNode(node, choices, self._tools, memory)
        live.detector.drained = read_drained(self._state)
        now = time.monotonic()
        live.detector.judge(now)
        live.apply(now)
        self._watch(live)
        log.info("routes are right", extra={"node": node.name, "peers": len(live.here.peers)})
        return live

    def _watch(self, live: LiveNode) -> None:
        for leg, leg_socket in live.prober.sockets.items():
            self._selector.register(leg_socket, selectors.EVENT_READ, _Receive(live, leg))

    def _unwatch(self) -> None:
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, _Receive):
                self._selector.unregister(key.fileobj)

    def _on_events(self) -> None:
        for event in self._events.read():
            if isinstance(event, LinkChange):
                mine = self._live.heed(event)
                self._live.judge(time.monotonic())
                if mine:
                    self._look("interface")
            elif isinstance(event, Overflow):
                self._look("overflow")
            elif isinstance(event, Disturbed):
                self._check_soon()

    def _look(self, cause: str) -> None:
        self._tools.metrics.resyncs.labels(cause).inc()
        self._unwatch()
        self._live.look()
        self._watch(self._live)
        self._check_soon()

    def _check_soon(self) -> None:
        self._check_at = min(self._check_at, time.monotonic() + _SETTLE_SECONDS)

    def _on_tick(self, now: float) -> None:
        self._live.watch_carriers()
        self._tools.announcer.run(now)
        notify("WATCHDOG=1")
        if now >= self._check_at:
            self._check_at = now + _CHECK_SECONDS
            self._live.check()
        if now >= self._files_at:
            self._files_at = now + _FILES_SECONDS
            self._live.drain(self._drained(), now)
            if self._reading is None and self._stamps_now() != self._stamps:
                self._read_again()

    def _read_again(self) -> None:
        """Has the map read by a thread: a large one takes seconds, and peers are to be answered."""
        self._stamps = self._stamps_now()
        notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
        self._reading = self._reader.submit(self._load)

    def _take(self, reading: Future[tuple[Node, Choices]]) -> None:
        self._reading = None
        try:
            node, choices = reading.result()
            self._unwatch()
            old, self._live = self._live, self._start(node, choices, self._live.memory())
            old.prober.close()
            self._tools.metrics.reloads.labels("done").inc()
        except VasError as wrong:
            self._tools.metrics.reloads.labels("refused").inc()
            log.error("the map is not taken; the old one holds", extra={"what": str(wrong)})
        notify("READY=1")

    def _drained(self) -> frozenset[Leg]:
        try:
            return read_drained(self._state)
        except BadInput as wrong:
            log.error("drained", extra={"what": str(wrong)})
            return self._live.detector.drained

    def _stamps_now(self) -> list[object]:
        return [stamp_of(file) for file in self._files]


class _Receive:
    """Takes what has arrived by a leg."""

    def __init__(self, live: LiveNode, leg: Leg) -> None:
        self._live, self._leg = live, leg

    def __call__(self) -> None:
        self._live.prober.receive(self._leg, time.monotonic())
