"""A snapshot of a host: its devices, interrupts, guests and threads, as plain data."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from vas_affinity.machine.topology import Frozen, MachineTopology


class DeviceKind(StrEnum):
    """The purpose of a device."""

    STORAGE = "storage"
    NETWORK = "network"
    OTHER = "other"


class PciDevice(Frozen):
    """A storage or network device on PCI, and the CPUs that are near it.

    `name` is the one that its interrupts use: `nvme0`, `sda`, `ens1f0`, or its PCI `address` if the
    kernel has no name for it. `names` are all of its disks, interfaces and controllers. `cpus` are
    the online CPUs near it according to the firmware; all online CPUs if the firmware says nothing.
    """

    name: str
    kind: DeviceKind
    address: str
    names: tuple[str, ...] = ()
    driver: str | None = None
    node: int | None = None
    cpus: tuple[int, ...] = ()


class Interrupt(Frozen):
    """One interrupt line. `device` is `nvme0`, `ens1f0` ... or a PCI address.

    `effective` are the CPUs on which it fires, `allowed` those on which it may fire. A `managed`
    line cannot be moved (a write fails with EPERM or EIO); None if not known. `per_second` is None
    if not measured.
    """

    number: int
    device: str
    kind: DeviceKind
    queue: int | None = None
    effective: tuple[int, ...] = ()
    allowed: tuple[int, ...] = ()
    managed: bool | None = None
    per_second: float | None = None
    node: int | None = None


class ThreadRole(StrEnum):
    """The kind of a thread, which decides how a planner places it."""

    VCPU = "vcpu"
    EMULATOR = "emulator"
    IOTHREAD = "iothread"
    VHOST = "vhost"
    STORAGE = "storage"
    """A thread of the storage service (an OSS's ll_ost_io)."""
    SERVICE = "service"
    """A thread of another process that the user named: a NodeManager's, a container's."""


class Thread(Frozen):
    """One thread. Its `key` stays the same when it ends and starts again.

    `key` is `guest/vcpu/3`, `guest/iothread/1`, `guest/emulator`, `guest/vhost/0` for a guest's
    threads, and `process-name/thread-name/ordinal` for others. `cpu` is its CPU use, 1.0 for a
    whole CPU, None if not measured. `start` is the kernel's start time in ticks: a tid with another
    start is another thread. `device` names the device that it serves.
    """

    tid: int
    pid: int
    key: str
    name: str
    role: ThreadRole
    start: int = 0
    cpu: float | None = None
    last_cpu: int | None = None
    allowed: tuple[int, ...] = ()
    guest: str | None = None
    device: str | None = None
    switches_per_second: float | None = None


class LibvirtGuest(Frozen):
    """A libvirt domain. Its threads in the snapshot carry its name."""

    name: str
    uuid: str
    running: bool
    vcpus: int
    memory_bytes: int
    iothreads: tuple[int, ...] = ()
    pins: dict[str, str] = Field(default_factory=dict)
    """The present `<cputune>`: thread key -> list of CPUs."""
    devices: tuple[str, ...] = ()
    """What its I/O goes through: PCI addresses of devices given to it, taps, disks' sources."""


class Unread(Frozen):
    """Something that could not be read, and the reason. Planners must not take it for empty."""

    what: str
    why: str


class Snapshot(Frozen):
    """A host at one moment."""

    host: str
    topology: MachineTopology
    devices: tuple[PciDevice, ...] = ()
    """Storage and network devices; known of captured machines too, unlike interrupts."""
    interrupts: tuple[Interrupt, ...] = ()
    guests: tuple[LibvirtGuest, ...] = ()
    threads: tuple[Thread, ...] = ()
    unread: tuple[Unread, ...] = ()
