"""The measures of a run: name, unit, meaning, and which way is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher", "neither"]


@dataclass(frozen=True)
class Measure:
    """A quantity; `unit` is as printed, empty for counts and shares."""

    unit: str
    meaning: str
    better: Better = "lower"


JOB_SECONDS = "job_seconds"

# The part behind a slash says of what: `cpu_seconds/guests`, `network_received_bytes/vf0`.
MEASURES: dict[str, Measure] = {
    JOB_SECONDS: Measure("s", "the job's time as YARN counts it, from submission to its end"),
    "client_seconds": Measure("s", "the job's time as the client sees it, its own start included"),
    "cpu_seconds": Measure("s", "CPU of all of a lab's processes, or of a site's nodes"),
    "task_cpu_seconds": Measure("s", "CPU of the tasks, without the start of their JVMs"),
    "gc_seconds": Measure("s", "garbage collection in the tasks"),
    "throughput_bytes_per_second": Measure("B/s", "input bytes over job time", "higher"),
    "dfsio_bytes_per_second": Measure("B/s", "a map's speed, as TestDFSIO prints it", "higher"),
    "total_maps": Measure("", "map tasks", "neither"),
    "data_local_maps": Measure("", "map tasks on a host that has their split", "higher"),
    "local_map_share": Measure("", "data-local map tasks of all", "higher"),
    "input_bytes": Measure("B", "bytes that map tasks read", "neither"),
    "local_input_bytes": Measure("B", "bytes that map tasks read from their own host", "higher"),
    "local_byte_share": Measure("", "of the input bytes, those from the own host", "higher"),
    "map_output_bytes": Measure("B", "what mappers emitted", "neither"),
    "spilled_records": Measure("", "records written to disk between map and reduce"),
    "reduce_spilled_records": Measure("", "the same, of reduce tasks"),
    "written_bytes": Measure("B", "intermediate data written"),
    "stored_bytes": Measure("B", "intermediate data written and read back"),
    "moved_bytes": Measure("B", "the same, and what went by HTTP"),
    "device_read_bytes": Measure("B", "bytes that the block device read"),
    "device_written_bytes": Measure("B", "bytes that the block device wrote"),
    "device_requests": Measure("", "requests to the block device"),
    "network_received_bytes": Measure("B", "bytes that an interface received"),
    "link_bytes": Measure("B", "bytes of files that crossed a lab's links, by where their OST is"),
    "link_bytes_per_second": Measure("B/s", "the same, in the second with the most"),
    "link_wait_seconds": Measure("s", "waits of all threads for a lab's links, by what for"),
    "link_requests": Measure("", "requests that waited for a lab's links"),
    "network_sent_bytes": Measure("B", "bytes that an interface sent"),
    "page_cache_bytes": Measure("B", "page cache at the end", "neither"),
    "containers_started": Measure("", "YARN containers started"),
    "live_heap_bytes": Measure("B", "heap that lives at the end of a JVM's 5th or 200th map"),
    "between_tasks_seconds": Measure("s", "between two maps of one container, the median"),
    "metadata_operations": Measure("", "what tasks did to names: opens, looks, lists, changes"),
    "metadata_requests": Measure("", "requests to the metadata servers, of all on the nodes"),
    "file_system_requests": Measure("", "opens and layouts at the MDTs; calls to OSTs, by object"),
    "files_per_map": Measure("", "most files that one map task's output has"),
    "tasks_again": Measure("", "tasks of stages that Spark ran again"),
    "failed_maps": Measure("", "map attempts that failed"),
    "failed_reduces": Measure("", "reduce attempts that failed"),
    "hsph": Measure("TB/h", "terabytes sorted an hour, all phases: not a TPC result", "higher"),
    "beside_job_seconds": Measure("s", "time of a job that ran next to the service's clients"),
    "work_rate": Measure("", "work done, as the workload prints it", "higher"),
    "migrations_per_second": Measure("1/s", "times that a thread changed its CPU"),
    "cross_node_share": Measure("", "of messages, those taken on another memory node"),
    "wall_seconds": Measure("s", "wall time of the run", "neither"),
    "others_cpus": Measure("", "CPUs that other processes used meanwhile", "neither"),
    "stolen_cpus": Measure("", "CPUs that the hypervisor kept meanwhile", "neither"),
    "cpu_seconds_per_gib": Measure("s/GiB", "CPU to serve, fetch and merge a GiB of map output"),
    "requests": Measure("", "requests that the server of map output answered"),
    "connections": Measure("", "TCP connections that the server of map output accepted"),
    "peak_memory_bytes": Measure("B", "largest sum of the processes' proportional set sizes"),
    "threads": Measure("", "threads at the end"),
    "open_connections": Measure("", "most connections to servers of map output, open at once"),
    "shuffle_threads": Measure("", "most threads that one reduce task has for the shuffle alone"),
    "energy_joules": Measure("J", "energy of processors and memory, as RAPL counts it"),
}


INTERFERENCE, PINNING, FETCH, PAIRS = "interference", "pinning", "fetch", "pairs"
_PRIMARY = {
    FETCH: "cpu_seconds_per_gib/all",
    INTERFERENCE: "throughput_bytes_per_second/sequential read",
    PINNING: "work_rate",
    PAIRS: "work_rate",
}


def primary_of(workload: str) -> str:
    """Returns the measure that a workload's systems are compared by; a job's time for most."""
    return _PRIMARY.get(workload, JOB_SECONDS)


def noun_of(measure: str) -> str:
    """Returns a compared measure as headings name it."""
    return "job time" if measure == JOB_SECONDS else measure.replace("_", " ").replace("/", ", ")


def measure_of(name: str) -> Measure | None:
    """Returns the measure of a name, with or without a /PART; None for an unknown one."""
    return MEASURES.get(name.partition("/")[0])
