"""The simulated cluster and job, and what follows from them by arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vas_bench.scale.costs import (
    GIB,
    IN_MEMORY,
    LARGEST_WINDOW,
    MAPS_AT_ONCE,
    MIB,
    SMALLEST_WINDOW,
)

MAP_BYTES = 256 * MIB
"""The bytes of a map's output: HDFS blocks of the dissertation's runs (5.2)."""


@dataclass(frozen=True)
class SimulatedCluster:
    """Nodes that are all alike, with one full-duplex link to a switch without a bound."""

    nodes: int
    cores: int = 12
    link_gbit: float = 10
    disk_mib: float = 500
    heap_mib: int = 1024
    reducers_of_node: int = 2

    @property
    def link_bytes(self) -> float:
        """Bytes a second of a link, in each direction."""
        return self.link_gbit * 1e9 / 8

    @property
    def disk_bytes(self) -> float:
        """Bytes a second of a node's disk, read or written."""
        return self.disk_mib * MIB


@dataclass(frozen=True)
class SimulatedCopy:
    """The map output of one job, which every reducer gets an equal part of."""

    cluster: SimulatedCluster
    total_bytes: int

    @property
    def maps(self) -> int:
        """The number of maps; each node has run `maps_of_node` of them."""
        return max(self.cluster.nodes, -(-self.total_bytes // MAP_BYTES))

    @property
    def reducers(self) -> int:
        """The number of reducers, all of which run at once."""
        return self.cluster.nodes * self.cluster.reducers_of_node

    def maps_of_node(self, node: int) -> int:
        """Returns how many maps ran on a node."""
        more = node < self.maps % self.cluster.nodes
        return self.maps // self.cluster.nodes + more

    def part(self, node: int) -> int:
        """Returns the bytes of a reducer's part that lie on a node. All parts are the total."""
        share = self.maps_of_node(node) / self.maps
        return round(self.total_bytes * share / self.reducers)

    @property
    def partition_bytes(self) -> int:
        """Bytes that one reducer merges."""
        return sum(self.part(node) for node in range(self.cluster.nodes))

    @property
    def segment_bytes(self) -> float:
        """Bytes of one map's output for one reducer."""
        return self.partition_bytes / self.maps

    @property
    def heap_bytes(self) -> float:
        """Bytes of a reducer's heap that may hold map output."""
        return IN_MEMORY.value * self.cluster.heap_mib * MIB

    @property
    def spilled_bytes(self) -> int:
        """Bytes that one of stock's reducers writes to its disk: all of them, or none."""
        return self.partition_bytes if self.partition_bytes > self.heap_bytes else 0

    @property
    def fetches(self) -> int:
        """Requests of all of stock's reducers, which are its connections too."""
        at_once = int(MAPS_AT_ONCE.value)
        nodes = range(self.cluster.nodes)
        return self.reducers * sum(-(-self.maps_of_node(node) // at_once) for node in nodes)

    @property
    def window_bytes(self) -> float:
        """Bytes of one of the two buffers that NodeMerge has for a segment."""
        fair = self.heap_bytes / (2 * self.maps)
        return min(LARGEST_WINDOW.value * MIB, max(SMALLEST_WINDOW.value * MIB, fair))

    @property
    def buffer_bytes(self) -> float:
        """Bytes of all buffers of one of NodeMerge's reducers."""
        of_segment = min(self.segment_bytes, 2 * self.window_bytes)
        return min(self.heap_bytes, self.maps * of_segment)

    @property
    def passed_bytes(self) -> int:
        """Bytes that one of NodeMerge's reducers writes in passes, where buffers are too many."""
        smallest = min(self.segment_bytes, 2 * SMALLEST_WINDOW.value * MIB)
        return self.partition_bytes if self.maps * smallest > self.heap_bytes else 0

    @property
    def requests(self) -> int:
        """Looks and reads of all of NodeMerge's reducers."""
        reads = math.ceil(self.segment_bytes / self.window_bytes)
        return self.reducers * self.maps * (1 + reads)


def weak(cluster: SimulatedCluster, bytes_of_reducer: int = 6 * GIB) -> SimulatedCopy:
    """Returns a copy that grows with the cluster; 6 GiB a reducer is the dissertation's (5.2.3)."""
    return SimulatedCopy(cluster, bytes_of_reducer * cluster.nodes * cluster.reducers_of_node)


def strong(cluster: SimulatedCluster, total_bytes: int = 256 * GIB) -> SimulatedCopy:
    """Returns a copy of one size on any cluster; 256 GiB is the dissertation's (5.2.3)."""
    return SimulatedCopy(cluster, total_bytes)
