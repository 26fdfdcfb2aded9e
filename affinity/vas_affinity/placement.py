"""A placement: what is to be where, and why. Planners make it, edges make it true."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from vas_affinity.topology import Frozen


class Target(StrEnum):
    """What a pin pins, which decides how it is applied."""

    VCPU = "vcpu"
    EMULATOR = "emulator"
    IOTHREAD = "iothread"
    THREAD = "thread"
    """By sched_setaffinity: threads of processes, vhost threads."""
    INTERRUPT = "interrupt"
    GROUP = "group"
    """A cgroup's cpuset."""


class Pin(Frozen):
    """One thing on its CPUs.

    `name` is a vCPU's, iothread's or interrupt's number, a thread's key (`snapshot.Thread.key`) or
    a cgroup's path; `guest` is the domain of a vCPU, emulator or iothread. `tid` and `start`, of a
    thread that was seen, say which one: one that ended and another that took its number differ.
    `device` says so of an interrupt, whose numbers are given again too.
    """

    target: Target
    name: str
    cpus: tuple[int, ...]
    reason: str
    guest: str | None = None
    tid: int | None = None
    start: int | None = None
    device: str | None = None


class CpuRole(StrEnum):
    """What a CPU is for. Every online CPU has one."""

    STORAGE_IRQ = "storage-irq"
    OSS = "oss"
    """Kept for the storage server's own threads."""
    VCPU = "vcpu"
    EMULATOR = "emulator"
    IOTHREAD = "iothread"
    IDLE = "idle"
    """A sibling that is left without work on purpose (a soft-disabled, "junk" thread)."""
    HOST = "host"
    """For whatever else the host runs."""


class GuestMemory(Frozen):
    """Where a guest's memory is, and whether in huge pages of `page_bytes`."""

    guest: str
    nodes: tuple[int, ...]
    memory_bytes: int
    page_bytes: int | None = None
    strict: bool = True


class GuestCell(Frozen):
    """A NUMA cell of a guest: vCPUs and memory that are on one node of the host."""

    node: int
    vcpus: tuple[int, ...]
    memory_bytes: int


class GuestShape(Frozen):
    """How a guest sees its vCPUs: `<topology sockets cores threads>` and its iothreads.

    The product may exceed `vcpus`: of an odd number on whole cores the last sibling is not there.
    `cells` is empty for a guest on one node.
    """

    guest: str
    vcpus: int
    sockets: int
    cores: int
    threads: int
    iothreads: int = 0
    cells: tuple[GuestCell, ...] = ()


class Placement(Frozen):
    """A host's plan. `notes` say what could not be as one would wish, and why."""

    host: str
    roles: dict[int, CpuRole] = Field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    memory: tuple[GuestMemory, ...] = ()
    shapes: tuple[GuestShape, ...] = ()
    score: float | None = None
    notes: tuple[str, ...] = ()
