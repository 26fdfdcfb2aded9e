"""Finds the CPUs that a host's devices interrupt, for a placement of threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vas_affinity.entities.entity import Entity, EntityKind
from vas_affinity.machine.firing import device_cpus, is_spread, near_cpus
from vas_affinity.machine.snapshot import DeviceKind, Snapshot


@dataclass(frozen=True)
class Firing:
    """Device -> CPUs that it interrupts; `notes` say which devices were left out, and why."""

    storage: dict[str, tuple[int, ...]] = field(default_factory=dict)
    network: dict[str, tuple[int, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def storage_of(self, device: str | None) -> tuple[int, ...]:
        """Returns the CPUs that a storage device interrupts; those of all devices for None."""
        chosen = self.storage.values() if device is None else [self.storage.get(device, ())]
        return tuple(sorted({cpu for cpus in chosen for cpu in cpus}))

    @property
    def network_cpus(self) -> tuple[int, ...]:
        """Returns the CPUs that any network device interrupts."""
        return tuple(sorted({cpu for cpus in self.network.values() for cpu in cpus}))

    def serves_network(self, entity: Entity) -> bool:
        """Tells whether an entity serves a network device.

        A vhost thread does, unless it names a storage device.
        """
        named = entity.device in self.storage
        return (entity.kind is EntityKind.VHOST and not named) or entity.device in self.network

    def disk_cpus(self, entity: Entity) -> tuple[int, ...]:
        """Returns the CPUs that an entity's disk interrupts; those of all disks if not known."""
        if self.serves_network(entity):
            return ()
        return self.storage_of(entity.device) or self.storage_of(None)

    def devices(self, cpu: int) -> list[str]:
        """Returns the names of the devices that interrupt a CPU."""
        return sorted(n for n, cpus in (self.storage | self.network).items() if cpu in cpus)


def firing(snapshot: Snapshot) -> Firing:
    """Returns the CPUs that storage and network devices interrupt.

    A device with interrupts on more than half of the cores interrupts the CPU that submits its I/O,
    or to which its flows are steered. For such a storage device the CPUs of its node count as near,
    or none if the firmware knows no node.
    """
    found: dict[DeviceKind, dict[str, tuple[int, ...]]] = {
        DeviceKind.STORAGE: {},
        DeviceKind.NETWORK: {},
    }
    notes = []
    for (kind, device), cpus in device_cpus(snapshot).items():
        if not is_spread(snapshot.topology, cpus):
            found[kind][device] = cpus
            continue
        near = _near(snapshot, device) if kind is DeviceKind.STORAGE else ()
        if near:
            found[kind][device] = near
        notes.append(_spread_words(device, kind, len(cpus), near))
    return Firing(found[DeviceKind.STORAGE], found[DeviceKind.NETWORK], tuple(notes))


def _spread_words(device: str, kind: DeviceKind, cpus: int, near: Sequence[int]) -> str:
    what = f"{device} interrupts {cpus} CPUs, wherever its I/O is submitted or its flows steered"
    if near:
        return f"{what}: the CPUs of its node count as near it"
    if kind is DeviceKind.NETWORK:
        return f"{what}: no CPU is kept free of them ([NS] cannot be avoided)"
    return f"{what}: no CPU counts as nearer than another"


def _near(snapshot: Snapshot, device: str) -> tuple[int, ...]:
    found = [d for d in snapshot.devices if device == d.name or device in d.names]
    return tuple(sorted({cpu for d in found for cpu in near_cpus(d, snapshot.topology)}))
