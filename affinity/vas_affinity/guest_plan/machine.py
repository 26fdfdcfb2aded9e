"""A machine as the planner of guests sees it: whole cores, and how near they are to interrupts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from vas_affinity.machine.topology import MachineTopology, Nearness


@dataclass(frozen=True, eq=False)
class Core:
    """A core with its online CPUs. `isolated`: the kernel's scheduler keeps off one of them.

    Two cores are equal only if they are the same object: a plan compares them very often.
    """

    number: int
    cpus: tuple[int, ...]
    node: int | None
    l3: int
    kind: int
    isolated: bool


def cores_of(topology: MachineTopology) -> tuple[Core, ...]:
    """Returns the cores that have a CPU online, ascending."""
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
    """Orders cores by their nearness to the CPUs of the storage interrupts."""

    topology: MachineTopology
    targets: tuple[int, ...]

    @cached_property
    def _places(self) -> dict[int, tuple[bool, int, int]]:
        """Returns core -> whether it has CPU 0, its nearness, and its node's distance."""
        return {
            core.number: (
                0 in core.cpus,
                int(self.target(core.cpus[0])[0]),
                self.distance(core.node),
            )
            for core in cores_of(self.topology)
        }

    def target(self, cpu: int) -> tuple[Nearness, int]:
        """Returns how near the nearest target is to a CPU, and that target."""
        return min((self.topology.nearness(cpu, other), other) for other in self.targets)

    def distance(self, node: int | None) -> int:
        """Returns the firmware's distance from a node to the nearest target's node.

        10 for the target's own node, 255 if not known.
        """
        homes = {self.topology.cpu(cpu).node for cpu in self.targets}
        if node in homes:
            return 10
        tables = [n.distances for n in self.topology.nodes if n.number == node]
        known = [table[home] for table in tables for home in homes if home in table]
        return min(known, default=255)

    def order(self, cores: Iterable[Core], *, quiet: bool = True) -> list[Core]:
        """Returns the cores, nearest first; if `quiet`, CPU 0's last: the kernel prefers it.

        Cores of one cache stay together, and the cache with most of them comes first, so that
        several cores span few caches.
        """
        given = list(cores)
        members: dict[int, int] = {}
        for core in given:
            members[core.l3] = members.get(core.l3, 0) + 1

        def key(core: Core) -> tuple[tuple[bool, int, int], int, int, tuple[int, ...]]:
            first, nearness, far = self._places[core.number]
            return (quiet and first, nearness, far), -members[core.l3], core.l3, core.cpus

        return sorted(given, key=key)
