"""Writes applications' I/O at a server's targets as a file for Prometheus' node exporter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from vas_core.files import write_atomically
from vas_yarn.jobstats.counts import OmissionReason, TargetIo

_LABELS = ("component", "target", "jobid")


def write_metrics(file: Path, targets: Sequence[TargetIo], now: float) -> None:
    """Replaces the file by what was read at `now` (Unix time, seconds). Raises OSError."""
    registry = CollectorRegistry()
    registry.register(_OfTargets(targets, now))
    write_atomically(file, generate_latest(registry))


class _OfTargets(Collector):
    """The names are those of the exporters of HPE, GSI and Whamcloud, so that panels fit both."""

    def __init__(self, targets: Sequence[TargetIo], now: float) -> None:
        self._targets, self._now = targets, now

    def collect(self) -> Iterator[Metric]:
        """Yields bytes and requests by application and target, what is left out, and the time."""
        read = CounterMetricFamily("lustre_job_read_bytes", "Bytes read", labels=_LABELS)
        written = CounterMetricFamily("lustre_job_write_bytes", "Bytes written", labels=_LABELS)
        requests = CounterMetricFamily(
            "lustre_job_stats", "Requests, reads and writes too", labels=(*_LABELS, "operation")
        )
        for row in (row for target in self._targets for row in target.rows):
            labels = (_component(row.target), row.target, row.jobid)
            read.add_metric(labels, row.read_bytes)
            written.add_metric(labels, row.write_bytes)
            for kind, count in (("read", row.reads), ("write", row.writes), ("other", row.others)):
                requests.add_metric((*labels, kind), count)
        yield from (read, written, requests)
        left_out = GaugeMetricFamily(
            "vas_jobstats_left_out",
            "Jobs that are not published, by reason; 1 for a list that is cut or unreadable",
            labels=("target", "reason"),
        )
        for target in self._targets:
            for reason in OmissionReason:
                left_out.add_metric((target.target, reason), target.left_out[reason])
        yield left_out
        yield GaugeMetricFamily(
            "vas_jobstats_last_read_seconds",
            "When the lists of the targets were last read, as Unix time",
            value=self._now,
        )


def _component(target: str) -> str:
    return "mdt" if "-MDT" in target else "ost"
