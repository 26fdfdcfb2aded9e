"""Finds the pairs of places that a machine has, near the CPU of a disk's interrupts. Pure.

Notation of the slides "Dynamic core affinity for HDFS": `[DS]` is the Same CPU as the Disk's
interrupt, `[DC]` one that shares its Cache, `[DM]` its Memory alone, `[DN]` None of these.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from vas_affinity.machine.firing import firing_cpus, is_spread
from vas_affinity.machine.snapshot import DeviceKind, Interrupt, Snapshot
from vas_affinity.machine.topology import MachineTopology, Nearness
from vas_bench.results.systems import DiskPair
from vas_core.errors import NotHere

SAME: DiskPair = "[DS,DS]"
"""The pair that the others are compared with: both threads on the interrupt's own CPU."""
UNPINNED: DiskPair = "unpinned"
_HINT = "name the CPU of its interrupts by --interrupt-cpu"
_MUCH = 0.1
"""Of the busiest line's rate: a line that fires less is not one of a disk's queues."""

# A sibling shares the cache, and half of its core: it stands for C where nothing better does.
_NEAR: dict[str, tuple[Nearness, ...]] = {
    "C": (Nearness.CACHE, Nearness.CORE),
    "M": (Nearness.MEMORY,),
    "N": (Nearness.NONE, Nearness.PACKAGE),
}
_PAIRS: dict[str, tuple[DiskPair, str]] = {
    "C": ("[DS,DC]", "no other CPU shares its cache"),
    "M": ("[DS,DM]", "no CPU shares its memory and not its cache"),
    "N": ("[DS,DN]", "no CPU is of another memory node or package"),
}


@dataclass(frozen=True)
class PairPlaces:
    """A pair of places as an arm: the CPU of each thread, none where the kernel chooses."""

    name: DiskPair
    cpus: tuple[int, ...] = ()


def pairs_of(
    topology: MachineTopology, interrupt: int, allowed: Collection[int]
) -> tuple[list[PairPlaces], dict[DiskPair, str]]:
    """Returns the pairs of a machine, and why it lacks others.

    `interrupt` is the CPU that handles the disk's interrupts. Raises NotHere if it is not online,
    or not among the `allowed` CPUs.
    """
    if interrupt not in topology.online:
        what = f"CPU {interrupt} is not online"
        raise NotHere(what, where="affinity pairs", hint="name another by --interrupt-cpu")
    if interrupt not in allowed:
        what = f"CPU {interrupt}, which handles the disk's interrupts, is not for this process"
        raise NotHere(what, where="affinity pairs", hint="run it without a cpuset, or taskset")
    found = [PairPlaces(UNPINNED), PairPlaces(SAME, (interrupt, interrupt))]
    lacking: dict[DiskPair, str] = {}
    by_nearness: dict[Nearness, int] = {}
    for cpu in sorted(allowed, reverse=True):
        by_nearness[topology.nearness(interrupt, cpu)] = cpu
    for letter, wanted in _NEAR.items():
        other = next((by_nearness[one] for one in wanted if one in by_nearness), None)
        name, why = _PAIRS[letter]
        if other is None:
            lacking[name] = why
        else:
            found.append(PairPlaces(name, (interrupt, other)))
    return found, lacking


def interrupt_of(snapshot: Snapshot, disk: str) -> Interrupt:
    """Returns the interrupt that a disk raises most, of a snapshot with measured rates.

    Raises NotHere if none fired, or if they fire on so many CPUs that each is the one of some I/O.
    """
    names = {disk}
    for device in snapshot.devices:
        if device.kind is DeviceKind.STORAGE and disk in (device.name, *device.names):
            names.add(device.name)
    fired = [line for line in snapshot.interrupts if line.device in names and line.per_second]
    if not fired:
        raise NotHere(f"no interrupt of {disk} fired", where="affinity pairs", hint=_HINT)
    busiest = max(fired, key=lambda line: line.per_second or 0.0)
    much = [line for line in fired if (line.per_second or 0) >= _MUCH * (busiest.per_second or 0)]
    cpus = {cpu for line in much for cpu in firing_cpus(line, snapshot.topology)}
    if len(cpus) != 1 and is_spread(snapshot.topology, cpus):
        what = f"{disk} has a queue for each CPU, and interrupts the one that writes"
        raise NotHere(what, where="affinity pairs", hint=_HINT)
    return busiest
