"""Turns a job's counters into the measures that results name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vas_yarn.jobs.job import JobResult

_TIMES = ("job_seconds", "client_seconds", "cpu_seconds")
_MILLISECONDS = 1000
# Hadoop's file systems count these; what a JVM does past them, shuffle files included, is not here.
_ON_NAMES = tuple(
    f"{scheme}_{kind}_OPS"
    for scheme in ("LUSTRE", "HDFS")
    for kind in ("READ", "LARGE_READ", "WRITE")
)


def _written(job: JobResult) -> int:
    """Bytes of map output written: to local disks by any task, to Lustre by maps."""
    return job.counter("FILE_BYTES_WRITTEN") + job.map_counter("LUSTRE_BYTES_WRITTEN")


def _read(job: JobResult) -> int:
    """Bytes of map output read back: by tasks from local disks and by reducers from Lustre.

    And by NodeManagers, which read once what they serve; no counter has that but its receiver's.
    """
    by_reducers = job.counter("LUSTRE_BYTES_READ") - job.map_counter("LUSTRE_BYTES_READ")
    return job.counter("FILE_BYTES_READ") + by_reducers + _fetched(job)


def _fetched(job: JobResult) -> int:
    """Bytes that reducers got by HTTP. VAS's say the same number, of what they read in place."""
    return 0 if job.counter("MOFS_OPENED") else job.counter("REDUCE_SHUFFLE_BYTES")


# Name -> where it comes from: what systems are compared by.
COMPARED: dict[str, Callable[[JobResult], float]] = {
    "job_seconds": lambda job: job.seconds,
    "client_seconds": lambda job: job.client_seconds,
    "cpu_seconds": lambda job: job.cpu_seconds,
    "task_cpu_seconds": lambda job: job.counter("CPU_MILLISECONDS") / _MILLISECONDS,
    "data_local_maps": lambda job: job.data_local_maps,
    "spilled_records": lambda job: job.counter("SPILLED_RECORDS"),
    "reduce_spilled_records": lambda job: (
        job.counter("SPILLED_RECORDS") - job.map_counter("SPILLED_RECORDS")
    ),
    "map_output_bytes": lambda job: job.counter("MAP_OUTPUT_BYTES"),
    "written_bytes": _written,
    "stored_bytes": lambda job: _written(job) + _read(job),
    # And those by HTTP, which a NodeManager sends and a reducer receives.
    "moved_bytes": lambda job: _written(job) + _read(job) + 2 * _fetched(job),
}


def containers_started(job: JobResult) -> int:
    """Returns how many containers a job had: its application master's, and those of its tasks.

    A master that uses containers again counts them; otherwise each attempt has one of its own.
    """
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
    "containers_started": containers_started,
}


# Of a job whose maps watch their JVM. Counters of several JVMs would be sums of their heaps.
_WATCHED = {
    "live_heap_bytes/5th": "LIVE_BYTES_OF_5TH",
    "live_heap_bytes/200th": "LIVE_BYTES_OF_200TH",
}


def job_measures(job: JobResult) -> dict[str, float]:
    """Returns the measures of a job; its times alone where it has no counters, as on Tez."""
    if not job.counters:
        return {name: float(COMPARED[name](job)) for name in _TIMES}
    found = {name: float(of(job)) for name, of in (COMPARED | dict(COUNTED)).items()}
    if job.counter("CONTAINERS_LAUNCHED") == 1:
        watched = {name: float(job.counter(counter)) for name, counter in _WATCHED.items()}
        found |= {name: value for name, value in watched.items() if value}
    if job.between_tasks_seconds is not None:
        found["between_tasks_seconds"] = job.between_tasks_seconds
    found |= job.printed
    found |= _share(found, "local_map_share", "data_local_maps", "total_maps")
    return found | _share(found, "local_byte_share", "local_input_bytes", "input_bytes")


def _share(found: Mapping[str, float], name: str, part: str, whole: str) -> dict[str, float]:
    # A map reads a little past its split, to its last record's end.
    return {name: min(1.0, found[part] / found[whole])} if found[whole] else {}
