"""Counts datagrams that are not believed, and logs them at most once a minute."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from math import inf

from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.daemon.trust import Refusal
from vas_routing.links import Leg

log = logging.getLogger("vas-routed")
_EVERY_SECONDS = 60.0
# A daemon that starts is echoed what the one before it sent, and a node without a key sends what
# is not signed: neither is an attack.
_HARMLESS = frozenset({Refusal.STALE, Refusal.UNSIGNED})


@dataclass
class Refusals:
    """The refused datagrams of one daemon since its last report."""

    metrics: RouteMetrics
    _seen: Counter[str] = field(default_factory=Counter)
    _last: str = ""
    _say_at: float = -inf

    def note(
        self, refusal: Refusal, *, times: int = 1, leg: Leg | None = None, of: str = ""
    ) -> None:
        """Counts datagrams; `of` is the node, or the address, that they claim to be from."""
        if not times:
            return
        self.metrics.refused.labels(refusal).inc(times)
        if refusal not in _HARMLESS:
            self._seen[refusal.value] += times
            self._last = f"{of} by {leg}" if of else self._last

    def report(self, now: float) -> None:
        """Logs the datagrams refused since the last report, if there were any."""
        if self._seen and now >= self._say_at:
            self._say_at = now + _EVERY_SECONDS
            extra = {"count": dict(self._seen), "last": self._last}
            log.warning("probes that no node sent", extra=extra)
            self._seen.clear()
