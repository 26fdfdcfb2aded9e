"""Holds the resources of the route daemon that outlive a reload of its map."""

from __future__ import annotations

from dataclasses import dataclass

from vas_routing.daemon.announce import Announcer
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.daemon.refusals import Refusals
from vas_routing.daemon.sockets import LegSockets


@dataclass(frozen=True)
class DaemonResources:
    """The announcer, the metrics, the sockets and the counters that every reading of the map
    shares."""

    announcer: Announcer
    metrics: RouteMetrics
    sockets: LegSockets
    refusals: Refusals
