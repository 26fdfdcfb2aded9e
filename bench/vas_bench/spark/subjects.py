"""The subjects of `vas bench spark`: a job of Spark's, and who keeps its map output. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from vas_bench.results.record import Parameter
from vas_bench.results.systems import SparkShuffle
from vas_core.sizes import format_size

OWN: SparkShuffle = "spark"
SERVICE: SparkShuffle = "spark-service"
VAS: SparkShuffle = "spark-vas"
SYSTEMS: tuple[SparkShuffle, ...] = get_args(SparkShuffle)
SORT, QUERIES, KILLED = "sort", "queries", "killed"
WORKLOADS = {
    SORT: "sort",
    QUERIES: "six queries",
    KILLED: "sort, an executor killed",
}
"""Name of a workload -> its title in tables."""

# Bytes of --size for each line of the shop's table; a query moves fewer for a line.
_BYTES_PER_LINE = 256
_PARTITION_BYTES = 64 << 20
# A task reads one file, or one stripe of a larger one. Spark adds the second to each file's size.
_STRIPE_BYTES, _OPEN_BYTES = 128 << 20, 5 << 20
# Seconds on two quiet cores: an application's start and end, and each GiB.
_START_SECONDS = 25.0
_SECONDS_PER_GIB = {SORT: 90.0, QUERIES: 60.0, KILLED: 110.0}
# The lab's NodeManagers have a service of this name: Spark hands it an application's secret, which
# is empty here, and which stock's handler leaves alone.
_SERVICE_NAME = "mapreduce_shuffle"


@dataclass(frozen=True)
class SparkSubject:
    """A workload of `size_bytes` on one system, in a lab of so many hosts."""

    system: SparkShuffle
    kind: str
    size_bytes: int
    hosts: int
    site: object = None

    @property
    def workload(self) -> str:
        """The workload, as a run's line names it."""
        return f"spark-{self.kind}"

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The numbers that all systems have in common."""
        return {"size_bytes": self.size_bytes, "hosts": self.hosts}

    @property
    def title(self) -> str:
        """The workload, its size and the system in words."""
        return f"{WORKLOADS[self.kind]} of {format_size(self.size_bytes)}, {self.system}"

    @property
    def seconds(self) -> float:
        """The seconds that a run is expected to take."""
        return _START_SECONDS + _SECONDS_PER_GIB[self.kind] * self.size_bytes / (1 << 30)

    @property
    def rows(self) -> int:
        """The rows of the largest table of the queries."""
        return self.size_bytes // _BYTES_PER_LINE

    @property
    def properties(self) -> dict[str, str]:
        """Spark's properties, besides those that fit executors to a lab."""
        partitions = max(2 * self.hosts, self.size_bytes // _PARTITION_BYTES)
        files = self.size_bytes // (2 * self.hosts) + _OPEN_BYTES
        found = {
            "spark.sql.shuffle.partitions": str(partitions),
            "spark.sql.files.maxPartitionBytes": str(min(_STRIPE_BYTES, files)),
        }
        if self.kind == QUERIES:
            # Tables of this size would be sent whole to each executor, and no join shuffled.
            found["spark.sql.autoBroadcastJoinThreshold"] = "-1"
        if self.system == SERVICE:
            found["spark.shuffle.service.enabled"] = "true"
            found["spark.shuffle.service.name"] = _SERVICE_NAME
        return found

    @property
    def options(self) -> tuple[str, ...]:
        """The words of `vas submit --spark` for this system."""
        return () if self.system == VAS else ("--stock-shuffle",)


def subjects(kinds: Iterable[str], size_bytes: int, hosts: int) -> dict[str, list[SparkSubject]]:
    """Returns workload -> its subjects.

    Without a kill Spark's service and its executors serve the same files: the second is left out.
    """
    return {
        kind: [
            SparkSubject(system, kind, size_bytes, hosts)
            for system in SYSTEMS
            if kind == KILLED or system != OWN
        ]
        for kind in kinds
    }
