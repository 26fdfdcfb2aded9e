"""What the route daemon has once, however often it reads its map."""

from __future__ import annotations

from dataclasses import dataclass

from vas_routing.daemon.announce import Announcer
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.daemon.refusals import Refusals
from vas_routing.daemon.sockets import LegSockets


@dataclass(frozen=True)
class DaemonResources:
    """What outlives a reload of the map."""

    announcer: Announcer
    metrics: RouteMetrics
    sockets: LegSockets
    refusals: Refusals
