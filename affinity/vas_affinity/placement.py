"""A placement: the CPUs of each vCPU, thread and interrupt of a host, each with a reason."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from vas_affinity.machine.topology import Frozen


class PinTarget(StrEnum):
    """The kind of thing that a pin pins, which decides how the pin is applied."""

    VCPU = "vcpu"
    EMULATOR = "emulator"
    IOTHREAD = "iothread"
    THREAD = "thread"
    """A thread of a process, or a vhost thread: pinned by sched_setaffinity."""
    INTERRUPT = "interrupt"
    GROUP = "group"
    """A cgroup: pinned by its cpuset."""


class Pin(Frozen):
    """The CPUs of one vCPU, emulator, iothread, thread, interrupt or cgroup.

    `name` is a vCPU's, iothread's or interrupt's number, a thread's key (`snapshot.Thread.key`) or
    a cgroup's path; `guest` is the domain of a vCPU, emulator or iothread. `tid` and `start`
    identify a thread that was seen, as the kernel reuses thread ids; `device` identifies an
    interrupt, as the kernel reuses interrupt numbers too.
    """

    target: PinTarget
    name: str
    cpus: tuple[int, ...]
    reason: str
    guest: str | None = None
    tid: int | None = None
    start: int | None = None
    device: str | None = None


class CpuRole(StrEnum):
    """The purpose of a CPU. Every online CPU has one role."""

    STORAGE_IRQ = "storage-irq"
    OSS = "oss"
    """Kept for the storage server's own threads."""
    VCPU = "vcpu"
    EMULATOR = "emulator"
    IOTHREAD = "iothread"
    IDLE = "idle"
    """A sibling that is deliberately left without work (a soft-disabled, "junk" thread)."""
    HOST = "host"
    """Left to the other work of the host."""


class GuestMemory(Frozen):
    """The NUMA nodes of a guest's memory; `page_bytes` is the huge page's size, None for none."""

    guest: str
    nodes: tuple[int, ...]
    memory_bytes: int
    page_bytes: int | None = None
    strict: bool = True


class GuestCell(Frozen):
    """A NUMA cell of a guest: its vCPUs and memory on one node of the host."""

    node: int
    vcpus: tuple[int, ...]
    memory_bytes: int


class GuestShape(Frozen):
    """The topology that a guest sees: sockets, cores, threads, iothreads and NUMA cells.

    sockets x cores x threads may exceed `vcpus`: with an odd number of vCPUs on whole cores, the
    last sibling is missing. `cells` is empty for a guest on one node.
    """

    guest: str
    vcpus: int
    sockets: int
    cores: int
    threads: int
    iothreads: int = 0
    cells: tuple[GuestCell, ...] = ()


class HostPlacement(Frozen):
    """The plan of a host. `notes` say which goals could not be met, and why."""

    host: str
    roles: dict[int, CpuRole] = Field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    memory: tuple[GuestMemory, ...] = ()
    shapes: tuple[GuestShape, ...] = ()
    score: float | None = None
    notes: tuple[str, ...] = ()
