"""The daemon's metrics, for Prometheus."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge

from vas_affinity.apply import guest
from vas_affinity.apply.options import STARTS, STATE
from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_affinity.arrivals.metrics import ArrivalMetrics
from vas_affinity.daemon.planner import Replanned
from vas_affinity.guest_start.counts import StartCounts
from vas_affinity.placement import PinTarget
from vas_core.inforce import InForceMetrics


class FailurePlace(StrEnum):
    """The part of the daemon that failed, or a value of the plan that could not be set."""

    STEP = "step"
    PLANNER = "planner"
    VALVE = "valve"
    VALUE = "value"


FORBIDDEN = "forbidden"
"""The kind of violation of a thread on a CPU that the plan's rules forbid it."""


class AffinityMetrics:
    """The metrics of `vas-affinityd`, in a registry of their own."""

    def __init__(self, starts: Path = STATE / STARTS) -> None:
        """Takes the directory of the counts of guests' starts, which others write."""
        self.registry = registry = CollectorRegistry()
        registry.register(StartCounts(starts))
        self.values = Gauge(
            "vas_affinity_values",
            "Values of the plan in force, by state",
            ["state"],
            registry=registry,
        )
        self.in_force = Gauge(
            "vas_affinity_plan_in_force", "1 if a plan is in force", registry=registry
        )
        self.held_off = Gauge(
            "vas_affinity_held_off", "1 while no move is made after a revert",
            registry=registry,
        )  # fmt: skip
        self.on_trial = Gauge(
            "vas_affinity_on_trial", "1 while a move is watched", registry=registry
        )
        self.busy = Gauge(
            "vas_affinity_busy_ratio", "Share of the CPUs' time in use", registry=registry
        )
        self.valve = Gauge(
            "vas_affinity_valve", "The watched service's metric, as last read", registry=registry
        )
        self.score = _scores(registry)
        self.violations = _violations(registry)
        self.decisions = Counter(
            "vas_affinity_decisions", "Steps of the daemon", ["action"], registry=registry
        )
        self.drift = Counter(
            "vas_affinity_drift", "Values found changed by others", registry=registry
        )
        self.failures = Counter(
            "vas_affinity_failures", "Failures, by their place", ["of"], registry=registry
        )
        # A count that begins with its first event has no increase that an alert could see.
        for place in FailurePlace:
            self.failures.labels(place)
        self.reloads = Counter(
            "vas_affinity_reloads", "Readings of plan and settings", ["result"], registry=registry
        )
        self.arrivals = ArrivalMetrics(registry)
        self.plan = InForceMetrics(registry, "vas_affinity_plan", "plan")

    def observe(self, outcomes: Iterable[SettingResult]) -> None:
        """Counts the values of a plan by their state."""
        results = list(outcomes)
        lost = Counts(_kind(one) for one in results if one.verdict is ApplyOutcome.DIFFERENT)
        for kind in PinTarget:
            self.violations.labels(kind).set(lost[kind])
        found = [outcome.verdict for outcome in results]
        for verdict in ApplyOutcome:
            self.values.labels(verdict.value.replace(" ", "_")).set(found.count(verdict))

    def observe_plan(self, found: Replanned | None) -> None:
        """Shows the scores that the planner found last."""
        if found is not None:
            self.score.labels("now").set(found.now)
            self.score.labels("best").set(found.best)
            self.violations.labels(FORBIDDEN).set(found.forbidden)


def _scores(registry: CollectorRegistry) -> Gauge:
    gauge = Gauge(
        "vas_affinity_score",
        "Score of the planned threads, lower is better; NaN without a planner",
        ["of"],
        registry=registry,
    )
    for score in ("now", "best"):
        gauge.labels(score).set(float("nan"))
    return gauge


def _violations(registry: CollectorRegistry) -> Gauge:
    gauge = Gauge(
        "vas_affinity_violations",
        "Values that others changed, and threads on forbidden CPUs, by kind",
        ["kind"],
        registry=registry,
    )
    for kind in (*PinTarget, FORBIDDEN):
        gauge.labels(kind)
    return gauge


def _kind(result: SettingResult) -> str:
    """Returns the kind of pin that a setting's key belongs to: a guest's names the kind itself."""
    first, _, rest = result.key.partition(":")
    return rest.partition(":")[0] if first == guest.KIND else first
