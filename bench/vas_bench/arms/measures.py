"""A job's counters as the measures that results name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vas_bench.arms.rounds import MEASURES
from vas_yarn.jobs.job import JobResult

_TIMES = ("job_seconds", "client_seconds", "cpu_seconds")
_MILLISECONDS = 1000
# Hadoop's file systems count these; what a JVM does past them, shuffle files included, is not here.
_ON_NAMES = tuple(
    f"{scheme}_{kind}_OPS"
    for scheme in ("LUSTRE", "HDFS")
    for kind in ("READ", "LARGE_READ", "WRITE")
)


def _containers(job: JobResult) -> int:
    """The application master's, and MapReduce's of each attempt; Tez uses its own again."""
    attempts = job.total_maps + job.counter("TOTAL_LAUNCHED_REDUCES")
    return 1 + (job.counter("CONTAINERS_LAUNCHED") or attempts)


COUNTED: Mapping[str, Callable[[JobResult], float]] = {
    "total_maps": lambda job: job.total_maps,
    "local_input_bytes": lambda job: job.map_counter("LUSTRE-LOCAL_BYTES_READ"),
    "input_bytes": lambda job: job.counter("BYTES_READ"),
    "metadata_operations": lambda job: sum(job.counter(name) for name in _ON_NAMES),
    "gc_seconds": lambda job: job.counter("GC_TIME_MILLIS") / _MILLISECONDS,
    "failed_maps": lambda job: job.counter("NUM_FAILED_MAPS"),
    "failed_reduces": lambda job: job.counter("NUM_FAILED_REDUCES"),
    "containers_started": _containers,
}


def job_measures(job: JobResult) -> dict[str, float]:
    """All that the job says of itself; its times alone where it has no counters, as on Tez."""
    if not job.counters:
        return {name: float(MEASURES[name](job)) for name in _TIMES}
    found = {name: float(of(job)) for name, of in (MEASURES | dict(COUNTED)).items()}
    found |= _share(found, "local_map_share", "data_local_maps", "total_maps")
    return found | _share(found, "local_byte_share", "local_input_bytes", "input_bytes")


def _share(found: Mapping[str, float], name: str, part: str, whole: str) -> dict[str, float]:
    # A map reads a little past its split, to its last record's end.
    return {name: min(1.0, found[part] / found[whole])} if found[whole] else {}
