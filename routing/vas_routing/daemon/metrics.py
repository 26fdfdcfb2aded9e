"""Defines the metrics of `vas-routed`, for Prometheus."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from vas_core.inforce import InForceMetrics
from vas_routing.daemon.detector import SwitchCause
from vas_routing.daemon.traffic import LegTraffic
from vas_routing.daemon.trust import Refusal
from vas_routing.links import Leg, PathState

_OUTAGES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)


class RouteMetrics:
    """Holds all metrics of one daemon, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._traffic = LegTraffic()
        self.registry.register(self._traffic)
        self._declare_paths(self.registry)
        self._declare_changes(self.registry)
        self._declare_probes(self.registry)

    def _declare_paths(self, registry: CollectorRegistry) -> None:
        self.switches = Counter(
            "vas_route_switches",
            "Changes of a path's state",
            ["path", "to", "cause"],
            registry=registry,
        )
        self.outage = Histogram(
            "vas_route_outage_seconds",
            "Seconds from the last answer by a path to the switch away from it: an upper bound",
            buckets=_OUTAGES,
            registry=registry,
        )
        self.up = Gauge(
            "vas_route_path_up", "1 if the path is up", ["leg", "peer"], registry=registry
        )
        self.in_use = Gauge(
            "vas_route_path_in_use",
            "1 for the leg by which packets to the peer leave",
            ["peer", "leg"],
            registry=registry,
        )
        self.rtt = Gauge(
            "vas_route_probe_rtt_seconds",
            "Round-trip time of the last answer",
            ["leg", "peer"],
            registry=registry,
        )

    def _declare_changes(self, registry: CollectorRegistry) -> None:
        self.resyncs = Counter(
            "vas_route_resyncs",
            "Number of times that the kernel was read again",
            ["cause"],
            registry=registry,
        )
        self.drift = Counter(
            "vas_route_drift", "Changes by others that were undone", registry=registry
        )
        self.failures = Counter(
            "vas_route_failures", "Changes that the kernel refused", registry=registry
        )
        self.reloads = Counter(
            "vas_route_reloads", "Readings of the map", ["result"], registry=registry
        )
        self.map = InForceMetrics(registry, "vas_route_map", "map")

    def _declare_probes(self, registry: CollectorRegistry) -> None:
        self._sockets = Gauge(
            "vas_route_probe_sockets", "Number of open sockets of the probes", registry=registry
        )
        self._legs = Gauge(
            "vas_route_probe_sockets_expected",
            "Number of legs whose interface is there",
            registry=registry,
        )
        self.refused = Counter(
            "vas_route_probes_refused",
            "Datagrams to the probes' port that were not believed",
            ["reason"],
            registry=registry,
        )
        # A count that begins with its first event has no increase that an alert could see.
        for refusal in Refusal:
            self.refused.labels(refusal)
        self.signed = Gauge(
            "vas_route_probes_signed", "1 if probes are signed by the site's key", registry=registry
        )
        self.key_refused = Gauge(
            "vas_route_key_refused",
            "1 if the file of the key cannot be used, is gone while its key is in force, or holds "
            "a new key that could not be put in force",
            registry=registry,
        )

    def observe_sockets(self, opened: int, expected: int) -> None:
        """Records how many of the probes' sockets are open, and how many should be."""
        self._sockets.set(opened)
        self._legs.set(expected)

    def observe_interfaces(self, names: Mapping[Leg, str]) -> None:
        """Counts the bytes of these interfaces from now on: the name of each leg's."""
        self._traffic.interfaces = names

    def expect_switches(self, path: str) -> None:
        """Counts 0 switches of a path by each cause, so that its first switch is an increase."""
        for cause in SwitchCause:
            to = PathState.UP if cause is SwitchCause.RECOVERED else PathState.DOWN
            self.switches.labels(path, to, cause)

    def observe_rtt(self, leg: Leg, peer: str, seconds: float) -> None:
        """Records the round-trip time of a peer's answer by a leg, in seconds."""
        self.rtt.labels(leg, peer).set(seconds)

    def observe_path(self, leg: Leg, peer: str, state: PathState) -> None:
        """Records whether a path to a peer by a leg is up."""
        self.up.labels(leg, peer).set(state is PathState.UP)

    def observe_use(self, peer: str, used: Leg) -> None:
        """Records which leg is in use to a peer."""
        for leg in Leg:
            self.in_use.labels(peer, leg).set(leg is used)
