"""A machine's CPUs and memory: plain data. `sysfs` and `lstopo` read it.

Groups are named by their lowest CPU (`core=4`: the core whose first thread is CPU 4), so that a
group means the same however it was read, and a CPU's group is comparable across the machine.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field

from vas_core.errors import BadInput


class Frozen(BaseModel):
    """Plain data, read from a file or printed to one."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Nearness(IntEnum):
    """How near two CPUs are; the slides' letters S, C, M and N are the last words' initials.

    A lower one is nearer. `CORE` is two threads (SMT siblings) of one core.
    """

    SAME = 0
    CORE = 1
    CACHE = 2
    MEMORY = 3
    PACKAGE = 4
    NONE = 5


class Cpu(Frozen):
    """One logical CPU that is present. All but `number`, `online` and `isolated` name groups.

    `core`, `l2`, `l3`, `die` and `package` are the lowest CPUs of those groups; `l3` is the last
    level of cache it shares (itself where it shares none), `node` a NUMA node's number.
    `efficiency` tells cores of a hybrid machine apart: 0 is the slowest kind, None one kind only.
    What the kernel does not say of an offline CPU is None or the CPU alone.
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


class Node(Frozen):
    """A NUMA node; `distances` are the firmware's, by node, 10 for itself."""

    number: int
    memory_bytes: int
    distances: dict[int, int] = Field(default_factory=dict)
    huge_pages: dict[int, int] = Field(default_factory=dict)
    """Pages by size in bytes."""


class Topology(Frozen):
    """A machine. Raises BadInput in `cpu` for a CPU that is not there."""

    name: str
    cpus: tuple[Cpu, ...]
    nodes: tuple[Node, ...] = ()

    @cached_property
    def by_number(self) -> dict[int, Cpu]:
        """Its CPUs, by number."""
        return {cpu.number: cpu for cpu in self.cpus}

    @cached_property
    def online(self) -> tuple[int, ...]:
        """The CPUs that run, ascending."""
        return tuple(sorted(cpu.number for cpu in self.cpus if cpu.online))

    def cpu(self, number: int) -> Cpu:
        """The CPU of that number."""
        try:
            return self.by_number[number]
        except KeyError:
            raise BadInput(f"has no CPU {number}", where=self.name) from None

    def siblings(self, number: int) -> tuple[int, ...]:
        """The online threads of its core, itself too."""
        core = self.cpu(number).core
        return tuple(n for n in self.online if self.by_number[n].core == core)

    def nearness(self, one: int, other: int) -> Nearness:
        """How near two CPUs are: the nearest group that has both."""
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
