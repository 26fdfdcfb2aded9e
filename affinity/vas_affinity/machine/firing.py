"""Finds where the interrupts of each device fire. Pure.

All planners ask here: which lines of a device count, on which CPUs they fire, whether these are so
many that nothing can keep clear of them, and which CPUs are near the device then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vas_affinity.machine.snapshot import DeviceKind, Interrupt, PciDevice, Snapshot
from vas_affinity.machine.topology import MachineTopology

SPREAD_SHARE = 0.5
"""The largest share of the cores on which a device's interrupts can be kept clear of."""
Named = tuple[DeviceKind, str]
"""The kind and the name of a device, as its interrupts have them."""


def by_device(lines: Iterable[Interrupt]) -> dict[Named, list[Interrupt]]:
    """Returns the lines of each storage and network device, ascending by number."""
    found: dict[Named, list[Interrupt]] = {}
    for line in sorted(lines, key=lambda line: line.number):
        if line.kind is not DeviceKind.OTHER:
            found.setdefault((line.kind, line.device), []).append(line)
    return found


def busy_lines(lines: Sequence[Interrupt]) -> list[Interrupt]:
    """Returns the lines of one device that fire, if rates are known; else all of its lines."""
    fired = [line for line in lines if line.per_second]
    return fired or list(lines)


def firing_cpus(line: Interrupt, topology: MachineTopology) -> tuple[int, ...]:
    """Returns the online CPUs on which an interrupt fires; if not known, those allowed."""
    return tuple(cpu for cpu in line.effective or line.allowed if cpu in topology.online)


def device_cpus(snapshot: Snapshot) -> Mapping[Named, tuple[int, ...]]:
    """Returns the CPUs, ascending, on which each device's interrupts fire; empty if not known."""
    return {
        named: tuple(
            sorted(
                {cpu for line in busy_lines(lines) for cpu in firing_cpus(line, snapshot.topology)}
            )
        )
        for named, lines in by_device(snapshot.interrupts).items()
    }


def is_spread(topology: MachineTopology, cpus: Iterable[int], share: float = SPREAD_SHARE) -> bool:
    """Tells whether CPUs are on more than a share of the cores, and on more than one core.

    A device with interrupts on so many has a queue for (nearly) every CPU: it interrupts the CPU
    that submits its I/O, or to which its flows are steered.
    """
    cores = {topology.cpu(cpu).core for cpu in topology.online}
    hit = {topology.cpu(cpu).core for cpu in cpus}
    return len(hit) > max(1.0, share * len(cores))


def near_cpus(device: PciDevice, topology: MachineTopology) -> tuple[int, ...]:
    """Returns the online CPUs near a device; none if the firmware prefers none."""
    near = tuple(cpu for cpu in device.cpus if cpu in topology.online)
    return near if len(near) < len(topology.online) else ()
