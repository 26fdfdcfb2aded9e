"""Holds the resources of the route daemon that outlive a reload of its map."""

from __future__ import annotations

from dataclasses import dataclass

from vas_routing.daemon.announce import Announcer
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.daemon.refusals import Refusals
from vas_routing.daemon.sockets import LegSockets


@dataclass(frozen=True)
class DaemonResources:
    """The announcer, metrics, sockets and counters that stay when the map is read again."""

    announcer: Announcer
    metrics: RouteMetrics
    sockets: LegSockets
    refusals: Refusals
