"""What runs on a host, and where: plain data that every planner takes."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from vas_affinity.topology import Frozen, Topology


class DeviceKind(StrEnum):
    """What an interrupt's device is for."""

    STORAGE = "storage"
    NETWORK = "network"
    OTHER = "other"


class Device(Frozen):
    """A storage or network device on PCI, and the CPUs it is near.

    `name` is what its interrupts call it: `nvme0`, `sda`, `ens1f0`, or its PCI `address` where the
    kernel has no name for it. `names` are all of its disks, interfaces, controllers; `cpus` the
    online ones that the firmware says are near it: all, where it does not say.
    """

    name: str
    kind: DeviceKind
    address: str
    names: tuple[str, ...] = ()
    driver: str | None = None
    node: int | None = None
    cpus: tuple[int, ...] = ()


class Interrupt(Frozen):
    """One interrupt line. `device` is `nvme0`, `ens1f0` ... or a PCI address; `queue` its number.

    `effective` is where it fires, `allowed` where it may. A `managed` one cannot be moved (its
    write fails with EPERM or EIO); None is not known. `per_second` is None where not measured.
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


class Role(StrEnum):
    """What a thread is to a placement."""

    VCPU = "vcpu"
    EMULATOR = "emulator"
    IOTHREAD = "iothread"
    VHOST = "vhost"
    STORAGE = "storage"
    """A thread of the storage service (an OSS's ll_ost_io)."""
    SERVICE = "service"
    """Another that the user named: a NodeManager's, a container's."""


class Thread(Frozen):
    """One thread. `key` is what it is known by when it has ended and started again.

    `key` is `guest/vcpu/3`, `guest/iothread/1`, `guest/emulator`, `guest/vhost/0` for a guest's;
    `process-name/thread-name/ordinal` for others. `cpu` is its use, 1.0 a whole CPU, None not
    measured. `start` is the kernel's start time in ticks: a tid with another one is another thread.
    `device` names the interrupts' device that it serves.
    """

    tid: int
    pid: int
    key: str
    name: str
    role: Role
    start: int = 0
    cpu: float | None = None
    last_cpu: int | None = None
    allowed: tuple[int, ...] = ()
    guest: str | None = None
    device: str | None = None
    switches_per_second: float | None = None


class Guest(Frozen):
    """A libvirt domain. The snapshot's threads name it."""

    name: str
    uuid: str
    running: bool
    vcpus: int
    memory_bytes: int
    iothreads: tuple[int, ...] = ()
    pins: dict[str, str] = Field(default_factory=dict)
    """Its present `<cputune>`: a thread's key -> cpulist."""


class Unread(Frozen):
    """Something that could not be read, and why: never taken for empty."""

    what: str
    why: str


class Snapshot(Frozen):
    """A host at a moment."""

    host: str
    topology: Topology
    devices: tuple[Device, ...] = ()
    """Storage and network: known of captured machines too, whose interrupts are not."""
    interrupts: tuple[Interrupt, ...] = ()
    guests: tuple[Guest, ...] = ()
    threads: tuple[Thread, ...] = ()
    unread: tuple[Unread, ...] = ()
