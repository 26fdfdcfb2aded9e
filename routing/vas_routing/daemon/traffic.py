"""Counts the bytes of each leg of a node, as the kernel does, whenever Prometheus asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from vas_routing.counters import parse_counters
from vas_routing.links import Leg

_COUNTERS = Path("/proc/self/net/dev")


class LegTraffic(Collector):
    """Yields the bytes received and sent by each leg whose interface is there.

    What a guest receives by virtio comes from its own host, the rest from elsewhere. The numbers
    are the interface's own, and begin at 0 when it is made. RDMA passes them by.
    """

    def __init__(self) -> None:
        self.interfaces: Mapping[Leg, str] = {}
        """Name of each leg's interface; replaced whole, as another thread reads it."""

    def collect(self) -> Iterator[Metric]:
        """Yields two counters with the label `leg`."""
        received = CounterMetricFamily(
            "vas_route_received_bytes", "Bytes received by a leg", labels=["leg"]
        )
        sent = CounterMetricFamily("vas_route_sent_bytes", "Bytes sent by a leg", labels=["leg"])
        counters = parse_counters(_COUNTERS.read_text())
        for leg, interface in self.interfaces.items():
            if interface in counters:
                received.add_metric([leg], counters[interface]["rx_bytes"])
                sent.add_metric([leg], counters[interface]["tx_bytes"])
        yield from (received, sent)
