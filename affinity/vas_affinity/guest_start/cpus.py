"""The CPUs of one guest's threads, as a plan has them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.machine.snapshot import LibvirtGuest, ThreadRole
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_core.errors import VasError

Cpus = tuple[int, ...]


@dataclass(frozen=True)
class ThreadPlaces:
    """The CPUs of a guest's threads: by their keys (`vm1/vcpu/0`), else `others`."""

    others: Cpus
    by_key: Mapping[str, Cpus] = field(default_factory=dict)

    def of(self, key: str) -> Cpus:
        """Returns the CPUs of the thread of that key."""
        return self.by_key.get(key, self.others)


def places_of(plan: HostPlacement, guest: LibvirtGuest, online: Collection[int]) -> ThreadPlaces:
    """Returns where a plan has a guest's threads.

    An I/O or vhost thread that the plan does not know goes to the emulator's CPUs. Raises VasError
    if the plan lacks a vCPU or the emulator, or has a CPU that is not online.
    """
    pins = {key: pin.cpus for pin in plan.pins if (key := _key(pin, guest.name))}
    if not pins:
        raise VasError(f"has no CPUs for {guest.name}")
    vcpus = [f"{guest.name}/{ThreadRole.VCPU}/{number}" for number in range(guest.vcpus)]
    if missing := [key for key in vcpus if key not in pins]:
        raise VasError(f"has CPUs for {len(vcpus) - len(missing)} of {guest.vcpus} vCPUs")
    emulator = pins.get(f"{guest.name}/{ThreadRole.EMULATOR}")
    if emulator is None:
        raise VasError("has no CPUs for the emulator")
    if off := {cpu for cpus in pins.values() for cpu in cpus} - set(online):
        raise VasError(f"has CPUs that are not online: {format_cpulist(off)}")
    return ThreadPlaces(emulator, pins)


def _key(pin: Pin, guest: str) -> str | None:
    """Returns the key of a guest's thread that a pin is for; None for another pin."""
    if pin.guest != guest:
        return None
    if pin.target is PinTarget.EMULATOR:
        return f"{guest}/{ThreadRole.EMULATOR}"
    if pin.target in (PinTarget.VCPU, PinTarget.IOTHREAD):
        return f"{guest}/{pin.target}/{pin.name}"
    return pin.name if pin.target is PinTarget.THREAD else None
