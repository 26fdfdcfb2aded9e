"""The request for one round, passed to the process in a network of its own, and its answer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from vas_bench.results.systems import Fetching


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PartitionSum(_Model):
    """Number, bytes and order-free sum of a partition's records."""

    records: int
    bytes: int
    sum: str


class FetchRequest(_Model):
    """One round: programs, directories, and what each client must have read in the end.

    `served` is the server's local directory, which holds the map output; `work` is an empty
    directory for all others. `tls` holds the TLS settings, None without TLS.
    `shuffled` is the daemon's program, empty where stock serves; `read_bytes` is
    `vas.shuffle.read-size`, None for its default.
    """

    system: Fetching
    clients: int
    maps: int
    heap_mib: int
    java: str
    classpath: str
    shuffled: str
    served: str
    work: str
    tls: str | None
    read_bytes: int | None
    expected: tuple[PartitionSum, ...]


class FetchCounts(_Model):
    """The counts of one fetch by all clients at once. CPU is in seconds, memory in bytes.

    `server_disk_bytes` includes pages of its program; `cached_share` is that of the map output in
    the page cache when the fetch began.
    """

    wall_seconds: float
    client_cpu: float
    client_daemon_cpu: float
    server_cpu: float
    client_pss: int
    server_pss: int
    server_idle_pss: int
    server_threads: int
    client_threads: int
    requests: int
    connections: int
    spilled_records: int
    server_disk_bytes: int
    cached_share: float


class FetchAnswer(_Model):
    """The fetch by fresh JVMs, and the second one by the same; `wrong` is empty if all is right."""

    fresh: FetchCounts
    again: FetchCounts
    wrong: str = ""
