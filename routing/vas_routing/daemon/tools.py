"""What the route daemon has once, however often it reads its map."""

from __future__ import annotations

from dataclasses import dataclass

from vas_routing.daemon.announce import Announcer
from vas_routing.daemon.metrics import Metrics
from vas_routing.daemon.refusals import Refusals
from vas_routing.daemon.sockets import LegSockets


@dataclass(frozen=True)
class Tools:
    """What outlives a reload of the map."""

    announcer: Announcer
    metrics: Metrics
    sockets: LegSockets
    refusals: Refusals
