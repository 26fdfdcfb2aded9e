"""A machine's CPUs and NUMA nodes as plain data. `sysfs` and `lstopo` read it.

Groups are named by their lowest CPU (`core=4`: the core whose first thread is CPU 4), so that a
group means the same however it was read, and a CPU's group is comparable across the machine.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field

from vas_core.errors import BadInput


class Frozen(BaseModel):
    """Immutable plain data, read from a file or printed to one."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Nearness(IntEnum):
    """How near two CPUs are; a lower value is nearer.

    The core affinity slides' letters S, C, M and N are the initials of SAME, CACHE, MEMORY and
    NONE. `CORE` is two threads (SMT siblings) of one core.
    """

    SAME = 0
    CORE = 1
    CACHE = 2
    MEMORY = 3
    PACKAGE = 4
    NONE = 5


class Cpu(Frozen):
    """One logical CPU that is present.

    `core`, `l2`, `l3`, `die` and `package` are the lowest CPUs of the groups that it belongs to;
    `l3` is the last level of cache that it shares (its own number if it shares none), `node` the
    number of its NUMA node. `efficiency` is the kind of core on a hybrid machine, 0 for the
    slowest; None if all cores are of one kind. For an offline CPU, a group that the kernel does
    not report is None or the CPU's own number.
    """

    number: int
    package: int
    die: int
    node: int | None
    l3: int
    l2: int
    core: int
    online: bool = True
    isolated: bool = False
    efficiency: int | None = None


class NumaNode(Frozen):
    """A NUMA node. `distances` are the firmware's (SLIT) by node number, 10 for itself."""

    number: int
    memory_bytes: int
    distances: dict[int, int] = Field(default_factory=dict)
    huge_pages: dict[int, int] = Field(default_factory=dict)
    """Page size in bytes -> number of reserved pages."""


class MachineTopology(Frozen):
    """The CPUs and NUMA nodes of a machine."""

    name: str
    cpus: tuple[Cpu, ...]
    nodes: tuple[NumaNode, ...] = ()

    @cached_property
    def by_number(self) -> dict[int, Cpu]:
        """Returns CPU number -> CPU."""
        return {cpu.number: cpu for cpu in self.cpus}

    @cached_property
    def online(self) -> tuple[int, ...]:
        """Returns the numbers of the online CPUs, ascending."""
        return tuple(sorted(cpu.number for cpu in self.cpus if cpu.online))

    def cpu(self, number: int) -> Cpu:
        """Returns the CPU of that number. Raises BadInput if the machine does not have it."""
        try:
            return self.by_number[number]
        except KeyError:
            raise BadInput(f"has no CPU {number}", where=self.name) from None

    def siblings(self, number: int) -> tuple[int, ...]:
        """Returns the online CPUs of a CPU's core, the CPU itself included."""
        core = self.cpu(number).core
        return tuple(n for n in self.online if self.by_number[n].core == core)

    def nearness(self, one: int, other: int) -> Nearness:
        """Returns how near two CPUs are: by the smallest group that contains both."""
        a, b = self.cpu(one), self.cpu(other)
        if a.number == b.number:
            return Nearness.SAME
        if a.core == b.core:
            return Nearness.CORE
        if a.l3 == b.l3:
            return Nearness.CACHE
        if a.node == b.node and a.node is not None:
            return Nearness.MEMORY
        return Nearness.PACKAGE if a.package == b.package else Nearness.NONE
