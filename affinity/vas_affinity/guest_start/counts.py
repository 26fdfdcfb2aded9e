"""Counts the guests' starts by rung: a file for each, which is as long as its count.

A short-lived program counts by appending a byte, which needs no lock, cannot be damaged, and is
what the hook's script does too when the time is up. vas-affinityd shows the counts to Prometheus.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from vas_affinity.guest_start.rung import StartRung
from vas_core.files import make_directories

INCOMPLETE = "incomplete"
"""The file of the starts at which a thread could not be placed."""


def count(directory: Path, *names: str) -> None:
    """Adds one to each of these counts. Raises OSError."""
    make_directories(directory)
    for name in names:
        descriptor = os.open(directory / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, b".")
        finally:
            os.close(descriptor)


@dataclass(frozen=True)
class StartCounts(Collector):
    """Shows the counts of a directory to Prometheus, as they are at each scrape."""

    directory: Path

    def collect(self) -> Iterable[Metric]:
        """Yields `vas_affinity_guest_starts` by rung, and the incomplete ones."""
        return self._metrics()

    def _metrics(self) -> Iterator[Metric]:
        starts = CounterMetricFamily(
            "vas_affinity_guest_starts",
            "Guests that libvirt started, by what placed their threads",
            labels=["by"],
        )
        for rung in StartRung:
            starts.add_metric([rung.value], self._count(rung))
        yield starts
        yield CounterMetricFamily(
            "vas_affinity_guest_starts_incomplete",
            "Guests that libvirt started of which a thread could not be placed",
            value=self._count(INCOMPLETE),
        )

    def _count(self, name: str) -> int:
        try:
            return (self.directory / name).stat().st_size
        except OSError:
            return 0
