"""The metrics of placing new threads, for Prometheus."""

from __future__ import annotations

from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from vas_affinity.arrivals.way import NoticeWay

_DELAYS_SECONDS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.3, 1.0, 10.0, 60.0)


class Lost(StrEnum):
    """A reason for which a new thread waits for the next look, or is not placed at all."""

    OVERFLOW = "overflow"
    """The kernel had more events than the socket's buffer holds."""
    BUDGET = "budget"
    """The CPU time for new threads was used up."""
    PROGRAMS = "programs"
    """The CPU time for programs that start was used up: a look at new processes follows."""
    FULL = "full"
    """More new threads than the plan may get pins for."""
    FORGED = "forged"
    """A message that another sender than the kernel sent."""
    MALFORMED = "malformed"
    OWNER = "owner"
    """A process with the name of one of the plan, but of another user."""
    ENDED = "ended"
    """The thread ended before it could be placed."""
    FAILED = "failed"


class ArrivalMetrics:
    """The metrics of new threads, in a daemon's registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.placed = Counter(
            "vas_affinity_arrivals",
            "New threads placed, by how they were noticed",
            ["way"],
            registry=registry,
        )
        self.lost = Counter(
            "vas_affinity_arrivals_lost",
            "New threads and events that were not used, by the reason",
            ["why"],
            registry=registry,
        )
        self.fallbacks = Counter(
            "vas_affinity_arrival_fallbacks",
            "Changes to a slower way of noticing new threads",
            ["to"],
            registry=registry,
        )
        self.way = Gauge(
            "vas_affinity_arrival_way", "1 for the way in use", ["way"], registry=registry
        )
        self.cpu = Counter(
            "vas_affinity_arrival_cpu_seconds",
            "CPU time of noticing and placing new threads",
            registry=registry,
        )
        self.delay = Histogram(
            "vas_affinity_arrival_delay_seconds",
            "Time from a thread's creation to its placement, where the kernel told it",
            buckets=_DELAYS_SECONDS,
            registry=registry,
        )
        # A count that begins with its first event has no increase that an alert could see.
        for way in NoticeWay:
            self.placed.labels(way)
            self.fallbacks.labels(way)
            self.way.labels(way)
        for why in Lost:
            self.lost.labels(why)

    def use(self, way: NoticeWay) -> None:
        """Shows the way in use."""
        for one in NoticeWay:
            self.way.labels(one).set(one is way)
