"""A machine as a planner of guests sees it: whole cores, and how near they are to interrupts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from vas_affinity.topology import Nearness, Topology


@dataclass(frozen=True, eq=False)
class Core:
    """A core's online threads. `isolated` if the kernel's scheduler keeps off any of them.

    Two are equal only if they are the same object: a plan compares them very often.
    """

    number: int
    cpus: tuple[int, ...]
    node: int | None
    l3: int
    kind: int
    isolated: bool


def cores_of(topology: Topology) -> tuple[Core, ...]:
    """The cores that have a thread online, ascending."""
    cpus = sorted((topology.cpu(n) for n in topology.online), key=lambda cpu: cpu.core)
    found = []
    for number, group in groupby(cpus, key=lambda cpu: cpu.core):
        threads = sorted(group, key=lambda cpu: cpu.number)
        one = threads[0]
        numbers = tuple(cpu.number for cpu in threads)
        isolated = any(cpu.isolated for cpu in threads)
        found.append(Core(number, numbers, one.node, one.l3, one.efficiency or 0, isolated))
    return tuple(sorted(found, key=lambda core: core.cpus))


@dataclass(frozen=True)
class Near:
    """Orders cores by nearness to some CPUs: those of the storage interrupts."""

    topology: Topology
    targets: tuple[int, ...]

    @cached_property
    def _places(self) -> dict[int, tuple[bool, int, int]]:
        """By core: whether it is CPU 0's, its nearness and its node's distance."""
        return {
            core.number: (
                0 in core.cpus,
                int(self.target(core.cpus[0])[0]),
                self.distance(core.node),
            )
            for core in cores_of(self.topology)
        }

    def target(self, cpu: int) -> tuple[Nearness, int]:
        """The nearest of the CPUs, and how near it is."""
        return min((self.topology.nearness(cpu, other), other) for other in self.targets)

    def distance(self, node: int | None) -> int:
        """The firmware's distance from a node to the nearest target's node; 10 for its own."""
        homes = {self.topology.cpu(cpu).node for cpu in self.targets}
        if node in homes:
            return 10
        tables = [n.distances for n in self.topology.nodes if n.number == node]
        known = [table[home] for table in tables for home in homes if home in table]
        return min(known, default=255)

    def order(self, cores: Iterable[Core], *, quiet: bool = True) -> list[Core]:
        """The cores, nearest first; if `quiet`, CPU 0's last, as the kernel's own work prefers it.

        Those of one cache stay together, and the cache that has most of them comes first, so that
        what takes several spans few caches.
        """
        given = list(cores)
        room: dict[int, int] = {}
        for core in given:
            room[core.l3] = room.get(core.l3, 0) + 1

        def key(core: Core) -> tuple[tuple[bool, int, int], int, int, tuple[int, ...]]:
            first, nearness, far = self._places[core.number]
            return (quiet and first, nearness, far), -room[core.l3], core.l3, core.cpus

        return sorted(given, key=key)
