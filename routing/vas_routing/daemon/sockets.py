"""Keeps the probes' sockets open over reloads of the map."""

from __future__ import annotations

import logging
import selectors
from collections.abc import Callable, Mapping
from functools import partial

from vas_routing.daemon.legsocket import Endpoint, LegSocket
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.links import Leg

log = logging.getLogger("vas-routed")


class LegSockets:
    """The sockets of the legs that are there; `on_ready` is called when one has something to read.

    A reload asks for the same endpoints again, and keeps the sockets: to bind a second one while
    the first is open fails (EADDRINUSE). A socket that cannot be opened is tried again by `retry`.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        on_ready: Callable[[Leg], None],
        metrics: RouteMetrics,
    ) -> None:
        self._selector, self._on_ready, self._metrics = selector, on_ready, metrics
        self._wanted: dict[Leg, Endpoint] = {}
        self._open: dict[Leg, LegSocket] = {}
        self._failed: dict[Leg, str] = {}

    def want(self, wanted: Mapping[Leg, Endpoint]) -> None:
        """Opens missing sockets, keeps open ones, and closes those that are no longer wanted."""
        self._wanted = dict(wanted)
        for leg, one in list(self._open.items()):
            if self._wanted.get(leg) != one.at:
                self._close(leg)
        self.retry()

    def retry(self) -> None:
        """Opens the wanted sockets that are not open yet; logs those that cannot be."""
        for leg, endpoint in self._wanted.items():
            if leg not in self._open:
                self._try(leg, endpoint)
        self._metrics.observe_sockets(len(self._open), len(self._wanted))

    def _try(self, leg: Leg, endpoint: Endpoint) -> None:
        try:
            opened = LegSocket(endpoint)
        except OSError as wrong:
            what = f"{endpoint.device}: {wrong.strerror or wrong}"
            if self._failed.get(leg) != what:
                self._failed[leg] = what
                log.error("no probes by this leg", extra={"leg": leg, "what": what})
            return
        self._failed.pop(leg, None)
        self._open[leg] = opened
        self._selector.register(opened, selectors.EVENT_READ, partial(self._on_ready, leg))

    def get(self, leg: Leg) -> LegSocket | None:
        """Returns the socket of a leg; None if it has none now."""
        return self._open.get(leg)

    def dropped(self) -> int:
        """Returns how many datagrams the kernel dropped on all legs since the last call."""
        return sum(one.dropped() for one in self._open.values())

    def _close(self, leg: Leg) -> None:
        one = self._open.pop(leg)
        self._selector.unregister(one)
        one.close()
