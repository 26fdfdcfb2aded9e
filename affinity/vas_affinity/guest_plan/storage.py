"""Finds or chooses the CPUs that handle the storage interrupts. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from vas_affinity.guest_plan.machine import Core, cores_of
from vas_affinity.guest_plan.settings import GuestPlanSettings
from vas_affinity.machine.firing import device_cpus, is_spread, near_cpus
from vas_affinity.machine.snapshot import DeviceKind, PciDevice, Snapshot
from vas_affinity.machine.topology import MachineTopology


@dataclass(frozen=True)
class StorageCpus:
    """The CPUs of storage interrupts with their devices; `notes` say what was assumed."""

    devices: dict[int, tuple[str, ...]]
    notes: tuple[str, ...] = ()

    @property
    def cpus(self) -> tuple[int, ...]:
        """Returns the CPUs of storage interrupts, ascending."""
        return tuple(sorted(self.devices))

    def words(self, cpu: int) -> str:
        """Returns a CPU with the devices whose interrupts it handles: `CPU 4 (nvme0)`."""
        names = self.devices[cpu]
        return f"CPU {cpu} ({', '.join(names)})" if names else f"CPU {cpu}"


@dataclass
class _Finding:
    """The CPUs found so far: of devices that stay where they fire, and of those given a CPU."""

    topology: MachineTopology
    cores: tuple[Core, ...]
    spread_share: float
    most_chosen: int
    devices: dict[int, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def has_room(self, cpus: Sequence[int]) -> bool:
        """Tells whether a device's CPUs, with those found so far, can be kept clear of."""
        return not is_spread(self.topology, [*self.devices, *cpus], self.spread_share)

    def stay(self, device: str, cpus: Sequence[int]) -> None:
        for cpu in cpus:
            self.devices.setdefault(cpu, []).append(device)

    def choose(self, device: str | None, near: Sequence[int], node: int | None) -> int:
        """Takes a core for a device, on its node, and an unused one while there are any."""
        used = {self.topology.cpu(cpu).core for cpu in self.devices}

        def key(core: Core) -> tuple[bool, bool, bool, bool, int, tuple[int, ...]]:
            mine = core.cpus[0] in near if near else node is None or core.node == node
            again = core.number in used
            crowd = sum(len(self.devices.get(cpu, ())) for cpu in core.cpus)
            full = not again and len(used) >= self.most_chosen
            return core.isolated, not mine, full, 0 in core.cpus, crowd, core.cpus

        cpu = min(self.cores, key=key).cpus[0]
        self.stay(device, [cpu]) if device else self.devices.setdefault(cpu, [])
        return cpu


def storage_cpus(snapshot: Snapshot, settings: GuestPlanSettings) -> StorageCpus:
    """Returns the CPUs to keep vCPUs off, at least one. Pure.

    A device whose interrupts are on few cores stays where it fires. A device with a queue for
    (nearly) every CPU interrupts the CPU that submits I/O: it gets a core on its own node, from
    which the storage server should submit. A device whose interrupts are not known gets a core
    near its place.
    """
    topology = snapshot.topology
    cores = cores_of(topology)
    chosen = max(1, ceil(settings.oss_share * len(cores)))
    found = _Finding(topology, cores, settings.spread_share, chosen)
    devices, notes = storage_devices(snapshot, settings)
    found.notes += notes
    fires = device_cpus(snapshot)
    cpus = {device.name: fires.get((DeviceKind.STORAGE, device.name), ()) for device in devices}
    for device in sorted(devices, key=lambda d: (not cpus[d.name], len(cpus[d.name]), d.name)):
        _place(found, device, cpus[device.name])
    if not found.devices:
        _assume(found, snapshot)
    names = {cpu: tuple(sorted(found.devices[cpu])) for cpu in sorted(found.devices)}
    return StorageCpus(names, tuple(found.notes))


def storage_devices(
    snapshot: Snapshot, settings: GuestPlanSettings
) -> tuple[list[PciDevice], list[str]]:
    """Returns the storage server's devices (of the settings, else all of the host), and notes."""
    known = _known_devices(snapshot)
    wanted = {name: [d for d in known if _has(d, name)] for name in settings.storage_devices}
    mine = [d for d in known if any(d in devices for devices in wanted.values())]
    missing = [name for name, devices in wanted.items() if not devices]
    if not missing:
        return mine or known, []
    note = f"storage devices that are not known of {snapshot.host}: {', '.join(missing)}"
    return mine or known, [note if mine else f"{note}; all that it has count instead"]


def _known_devices(snapshot: Snapshot) -> list[PciDevice]:
    """Returns the storage devices that have a disk, and those known by their interrupts only."""
    known = [device for device in snapshot.devices if device.kind is DeviceKind.STORAGE]
    disks = [d for d in known if d.name != d.address and not _is_optical(d)]
    listed = {name for device in known for name in (device.name, device.address)}
    lines = [line for line in snapshot.interrupts if line.kind is DeviceKind.STORAGE]
    unlisted = {line.device: line.node for line in lines if line.device not in listed}
    more = [
        PciDevice(name=name, kind=DeviceKind.STORAGE, address="", node=node)
        for name, node in unlisted.items()
    ]
    return sorted([*disks, *more] or known, key=lambda device: device.name)


def _has(device: PciDevice, name: str) -> bool:
    """Tells whether a disk belongs to a device: `nvme0n1` to `nvme0`."""
    return name in (device.name, device.address, *device.names) or bool(
        re.fullmatch(rf"{re.escape(device.name)}n\d+", name)
    )


def _is_optical(device: PciDevice) -> bool:
    return all(re.fullmatch(r"sr\d+", name) for name in (device.name, *device.names))


def _place(found: _Finding, device: PciDevice, cpus: Sequence[int]) -> None:
    if cpus and found.has_room(cpus):
        found.stay(device.name, cpus)
        return
    near = near_cpus(device, found.topology)
    cpu = found.choose(device.name, near, device.node)
    if cpus:
        found.notes.append(
            f"{device.name} has interrupts on {len(cpus)} CPUs, which fire where its I/O is "
            f"submitted: CPU {cpu} is taken for it, and its queues elsewhere are quiet while the "
            f"storage server's threads keep to their CPUs"
        )
        return
    where = "near no CPUs in particular"
    if near or device.node is not None:
        where = "near some CPUs" if device.node is None else f"on node {device.node}"
    found.notes.append(
        f"it is not known where {device.name}, {where}, interrupts: CPU {cpu} is assumed"
    )


def _assume(found: _Finding, snapshot: Snapshot) -> None:
    cpu = found.choose(None, (), None)
    found.notes.append(
        f"no storage interrupt or device is known of {snapshot.host}: "
        f"CPU {cpu} is assumed to handle storage"
    )
