"""Writes what the janitor's last run found as a text file for Prometheus' node exporter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from vas_core.files import write_atomically
from vas_yarn.shuffle.janitor.rule import JanitorDecision
from vas_yarn.shuffle.janitor.sweep import SweepRow

_REFUSED = "refused"


def write_metrics(file: Path, staging: Path, rows: Iterable[SweepRow], now: float) -> None:
    """Writes the outcome of a complete run below `staging` that ended at `now` (epoch seconds).

    Every series has the label `staging`: a machine may have a file for each of several staging
    directories, and a node exporter that reads one series twice refuses all of them.

    A run that fails leaves the file as it is: the old time in it shows that. Raises OSError.
    """
    found = list(rows)
    registry = CollectorRegistry()
    ended = Gauge(
        "vas_janitor_last_end_seconds",
        "When the janitor last looked after all that ended jobs left, as Unix time",
        ["staging"],
        registry=registry,
    )
    ended.labels(staging).set(now)
    by_verdict = Gauge(
        "vas_janitor_directories",
        "Directories of jobs that the last run saw, by its verdict",
        ["staging", "verdict"],
        registry=registry,
    )
    counted = Counter(row.verdict for row in found)
    for verdict in (*(decision.value for decision in JanitorDecision), _REFUSED):
        by_verdict.labels(staging, verdict).set(counted[verdict])
    failed = Gauge(
        "vas_janitor_failed",
        "Directories of jobs that the last run could not move or delete",
        ["staging"],
        registry=registry,
    )
    failed.labels(staging).set(sum(row.failed for row in found))
    write_atomically(file, generate_latest(registry))
