"""Costs of the simulated copy, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Cost:
    """A number that the simulation uses, its unit, and who measured or chose it."""

    name: str
    value: float
    unit: str
    source: str


_FETCH = "docs/bench-fetch.md, one client"


@dataclass(frozen=True)
class ArmCosts:
    """The costs of one arm: CPU seconds per GiB and per JVM, and MiB of memory."""

    server_cpu: Cost
    client_cpu: Cost
    start_cpu: Cost
    base_memory: Cost

    def listed(self) -> list[Cost]:
        """Returns all costs of the arm."""
        return [self.server_cpu, self.client_cpu, self.start_cpu, self.base_memory]


STOCK = ArmCosts(
    Cost("stock: server's CPU", 0.70, "s/GiB", _FETCH),
    Cost("stock: client's CPU", 14.56, "s/GiB", f"{_FETCH}, the JVM's second fetch"),
    Cost("stock: CPU of a JVM's first fetch beyond that", 2.47, "s", f"{_FETCH}: (19.50-14.56)/2"),
    Cost("stock: a reducer's memory beyond its heap", 4, "MiB", f"{_FETCH}: 404 of a heap of 400"),
)
DAEMON = ArmCosts(
    Cost("daemon: server's CPU", 0.78, "s/GiB", _FETCH),
    Cost("daemon: client's CPU, its daemon's included", 4.66, "s/GiB", f"{_FETCH}, second fetch"),
    Cost("daemon: CPU of a JVM's first fetch beyond that", 1.49, "s", f"{_FETCH}: (7.64-4.66)/2"),
    Cost("daemon: a reducer's memory beyond its buffers", 147, "MiB", f"{_FETCH}: 207 less 60"),
)
FETCHERS = Cost(
    "stock: fetchers of a reducer", 5, "", "Hadoop: mapreduce.reduce.shuffle.parallelcopies"
)
MAPS_AT_ONCE = Cost("stock: map outputs of one request", 20, "", "Hadoop: MAX_MAPS_AT_ONCE")
IN_MEMORY = Cost(
    "stock: part of the heap for map output",
    0.70,
    "",
    "Hadoop: mapreduce.reduce.shuffle.input.buffer.percent",
)
IN_FLIGHT = Cost("daemon: requests of a reducer on their way", 4, "", "docs/jbs.md")
KEPT = Cost("daemon: connections to other nodes at most", 512, "", "docs/jbs.md")
LARGEST_WINDOW = Cost("daemon: largest buffer of a segment", 1, "MiB", "docs/jbs.md")
SMALLEST_WINDOW = Cost("daemon: smallest buffer of a segment", 1 / 16, "MiB", "docs/jbs.md")
DAEMON_MEMORY = Cost("daemon: bytes held for reducers", 256, "MiB", "vas.shuffled.memory, default")
ROUND_TRIP = Cost("time to and from another node", 0.0002, "s", "assumed: one switch")

ALL = [
    *STOCK.listed(),
    *DAEMON.listed(),
    *(FETCHERS, MAPS_AT_ONCE, IN_MEMORY, IN_FLIGHT, KEPT, LARGEST_WINDOW, SMALLEST_WINDOW),
    *(DAEMON_MEMORY, ROUND_TRIP),
]
"""Every cost of the simulation."""
