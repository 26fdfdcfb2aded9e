"""A discrete-event simulation of the copy: queues of disks, cores and links, in virtual time.

A burst of bytes passes the disk and a core of the map's node, its link, the reducer's link, and a
core of the reducer's node, each of which takes one burst after another (a node has several
cores). Links store and forward. Nothing is lost, and no node fails.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import simpy

from vas_bench.scale.costs import (
    DAEMON,
    DAEMON_MEMORY,
    FETCHERS,
    GIB,
    IN_FLIGHT,
    KEPT,
    MAPS_AT_ONCE,
    MIB,
    ROUND_TRIP,
    STOCK,
    ArmCosts,
)
from vas_bench.scale.shapes import SimulatedCopy

BURST = 64 * MIB
"""Most bytes that pass the queues together; smaller bursts change little and take longer."""

Steps = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class CopyResult:
    """The cost of one simulated copy, over all nodes unless a name says otherwise."""

    arm: str
    seconds: float
    cpu_seconds: float
    merged_bytes: int
    requests: int
    connections_made: int
    most_connections_open: int
    written_bytes: int
    memory_mib_of_node: float


@dataclass
class _Node:
    """The queues of one node."""

    disk: simpy.Resource
    cores: simpy.Resource
    sends: simpy.Resource
    receives: simpy.Resource


@dataclass
class _Run:
    """One run of the simulation, and what it has counted so far."""

    copy: SimulatedCopy
    costs: ArmCosts
    env: simpy.Environment = field(default_factory=simpy.Environment)
    nodes: list[_Node] = field(default_factory=list)
    cpu_seconds: float = 0
    merged_bytes: int = 0
    written_bytes: int = 0
    made: int = 0
    open_now: int = 0
    most_open: int = 0
    pairs: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for _ in range(self.copy.cluster.nodes):
            one = [simpy.Resource(self.env) for _ in range(3)]
            cores = simpy.Resource(self.env, self.copy.cluster.cores)
            self.nodes.append(_Node(one[0], cores, one[1], one[2]))

    def use(self, queue: simpy.Resource, seconds: float) -> Steps:
        """Waits for a queue, and takes its time."""
        with queue.request() as mine:
            yield mine
            yield self.env.timeout(seconds)

    def compute(self, node: int, seconds: float) -> Steps:
        """Takes CPU time of one core."""
        self.cpu_seconds += seconds
        yield from self.use(self.nodes[node].cores, seconds)

    def store(self, node: int, size: int) -> Steps:
        """Writes bytes to a node's disk."""
        self.written_bytes += size
        yield from self.use(self.nodes[node].disk, size / self.copy.cluster.disk_bytes)

    def carry(self, source: int, target: int, size: int) -> Steps:
        """Reads a burst of map output on one node, and brings it to another or the same."""
        cluster = self.copy.cluster
        yield from self.use(self.nodes[source].disk, size / cluster.disk_bytes)
        yield from self.compute(source, self.costs.server_cpu.value * size / GIB)
        if source != target:
            yield from self.use(self.nodes[source].sends, size / cluster.link_bytes)
            yield from self.use(self.nodes[target].receives, size / cluster.link_bytes)

    def connect(self) -> None:
        """Counts a connection that is made."""
        self.made += 1
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)


def _bursts(size: int) -> list[int]:
    """Returns the sizes of the bursts of so many bytes."""
    whole, rest = divmod(size, BURST)
    return [BURST] * whole + ([rest] if rest else [])


def _stock_fetches(copy: SimulatedCopy, node: int) -> list[int]:
    """Returns the bytes of each request of one reducer to a node."""
    maps, part, at_once = copy.maps_of_node(node), copy.part(node), int(MAPS_AT_ONCE.value)
    ends = [min(maps, first + at_once) for first in range(0, maps, at_once)]
    before = [0, *(part * end // maps for end in ends)]
    return [after - first for first, after in itertools.pairwise(before)]


def _fetcher(run: _Run, target: int, hosts: list[int]) -> Steps:
    """Runs one of stock's fetcher threads: takes a host, and fetches all that it has there."""
    while hosts:
        source = hosts.pop()
        for size in _stock_fetches(run.copy, source):
            run.connect()
            # One to connect, one to ask: stock keeps no connection by default.
            yield run.env.timeout(2 * ROUND_TRIP.value)
            for burst in _bursts(size):
                yield from run.carry(source, target, burst)
                yield from run.compute(target, run.costs.client_cpu.value * burst / GIB)
                if run.copy.spilled_bytes:
                    yield from run.store(target, burst)
                run.merged_bytes += burst
            run.open_now -= 1


def _stock_reducer(run: _Run, target: int, hosts: list[int]) -> Steps:
    yield from run.compute(target, run.costs.start_cpu.value)
    fetchers = [_fetcher(run, target, hosts) for _ in range(int(FETCHERS.value))]
    yield run.env.all_of([run.env.process(each) for each in fetchers])
    if run.copy.spilled_bytes:
        # What was spilled is read again by the last merge.
        disk = run.nodes[target].disk
        for burst in _bursts(run.copy.spilled_bytes):
            yield from run.use(disk, burst / run.copy.cluster.disk_bytes)


def _daemon_reads(run: _Run, target: int, reads: list[tuple[int, int]], merge: Any) -> Steps:
    """One of a reducer's requests on their way: asks again as soon as it is answered."""
    while reads:
        source, size = reads.pop()
        if source != target and (source, target) not in run.pairs:
            run.pairs.add((source, target))
            run.connect()
            yield run.env.timeout(ROUND_TRIP.value)
        yield run.env.timeout(ROUND_TRIP.value)
        yield from run.carry(source, target, size)
        # The reducer's JVM merges in one thread.
        with merge.request() as mine:
            yield mine
            yield from run.compute(target, run.costs.client_cpu.value * size / GIB)
        if run.copy.passed_bytes:
            yield from run.store(target, size)
            yield from run.use(run.nodes[target].disk, size / run.copy.cluster.disk_bytes)
        run.merged_bytes += size


def _daemon_reducer(run: _Run, target: int, hosts: list[int]) -> Steps:
    yield from run.compute(target, run.costs.start_cpu.value)
    # All segments are merged at once: their nodes take turns.
    parts = {host: _bursts(run.copy.part(host)) for host in hosts}
    reads = []
    while any(parts.values()):
        reads += [(host, left.pop()) for host, left in parts.items() if left]
    reads.reverse()
    merge = simpy.Resource(run.env)
    flights = [_daemon_reads(run, target, reads, merge) for _ in range(int(IN_FLIGHT.value))]
    yield run.env.all_of([run.env.process(each) for each in flights])


def simulate_stock(copy: SimulatedCopy, seed: int) -> CopyResult:
    """Simulates stock's copy: five fetchers a reducer, a connection for each request."""
    run = _run(copy, STOCK, _stock_reducer, seed)
    of_reducer = copy.cluster.heap_mib + STOCK.base_memory.value
    return _result("stock", run, copy.fetches, of_reducer * copy.cluster.reducers_of_node)


def simulate_daemon(copy: SimulatedCopy, seed: int) -> CopyResult:
    """Simulates the daemon's copy, with `segments`: one connection for each pair of nodes.

    Raises ValueError for more nodes than the daemon keeps connections to.
    """
    if copy.cluster.nodes - 1 > KEPT.value:
        raise ValueError(f"more than {KEPT.value:g} other nodes: connections would be closed")
    run = _run(copy, DAEMON, _daemon_reducer, seed)
    of_reducer = DAEMON.base_memory.value + copy.buffer_bytes / MIB
    flying = IN_FLIGHT.value * copy.cluster.reducers_of_node * copy.window_bytes / MIB
    memory = of_reducer * copy.cluster.reducers_of_node + min(DAEMON_MEMORY.value, flying)
    return _result("vas-shuffled", run, copy.requests, memory)


def _run(copy: SimulatedCopy, costs: ArmCosts, reducer: Any, seed: int) -> _Run:
    """Runs all reducers to their end; each takes the nodes in an order of its own."""
    run, order = _Run(copy, costs), random.Random(seed)  # noqa: S311
    for number in range(copy.reducers):
        hosts = list(range(copy.cluster.nodes))
        order.shuffle(hosts)
        run.env.process(reducer(run, number % copy.cluster.nodes, hosts))
    run.env.run()
    return run


def _result(arm: str, run: _Run, requests: int, memory_mib: float) -> CopyResult:
    return CopyResult(
        arm=arm,
        seconds=run.env.now,
        cpu_seconds=run.cpu_seconds,
        merged_bytes=run.merged_bytes,
        requests=requests,
        connections_made=run.made,
        most_connections_open=run.most_open,
        written_bytes=run.written_bytes,
        memory_mib_of_node=memory_mib,
    )
