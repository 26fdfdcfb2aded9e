"""Keeps interrupts and the storage server's threads off the guests' CPUs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from vas_affinity.guest_plan.storage import StorageCpus
from vas_affinity.machine.firing import firing_cpus
from vas_affinity.machine.snapshot import DeviceKind, Interrupt, Snapshot, ThreadRole
from vas_affinity.machine.topology import MachineTopology
from vas_affinity.placement import CpuRole, Pin, PinTarget

_GUESTS = {CpuRole.VCPU, CpuRole.EMULATOR, CpuRole.IOTHREAD, CpuRole.IDLE}


def line_pins(
    snapshot: Snapshot, storage: StorageCpus, roles: Mapping[int, CpuRole]
) -> tuple[list[Pin], list[str]]:
    """Pins the storage and network interrupts that can be moved; also returns notes on the others.

    A storage interrupt belongs on the storage interrupts' CPUs. A network interrupt belongs on its
    node, on the host's CPUs, else on the storage server's. A service thread on a network
    interrupt's core is the worst case of the core affinity slides ([NS]). An interrupt that is on a
    right CPU already is pinned there. An interrupt of which nobody knows whether it can be moved is
    tried only if it is a NIC's, as a storage queue hardly ever can.
    """
    pins, stuck = [], []
    turns = {DeviceKind.STORAGE: count(), DeviceKind.NETWORK: count()}
    for line in sorted(snapshot.interrupts, key=lambda line: line.number):
        if line.kind not in turns:
            continue
        fires = firing_cpus(line, snapshot.topology)
        if is_movable(line):
            whose, home = _home(line, storage, roles, snapshot.topology)
            pins.append(_pin(line, fires, home, whose, turns[line.kind]))
        elif line.per_second and any(roles.get(cpu) in _GUESTS for cpu in fires):
            stuck.append(line)
    return pins, [_stuck_words(stuck)] if stuck else []


def _home(
    line: Interrupt, storage: StorageCpus, roles: Mapping[int, CpuRole], topology: MachineTopology
) -> tuple[str, tuple[int, ...]]:
    """Returns whose CPUs an interrupt belongs on, and those CPUs, on its node if possible."""
    if line.kind is DeviceKind.STORAGE:
        whose, candidates = "storage interrupts'", [storage.cpus]
    else:
        whose, candidates = "host's", [_with(roles, CpuRole.HOST), _with(roles, CpuRole.OSS)]
    local = [tuple(c for c in cpus if topology.cpu(c).node == line.node) for cpus in candidates]
    home = next(cpus for cpus in [*local, *candidates, storage.cpus] if cpus)
    server = line.kind is DeviceKind.NETWORK and roles[home[0]] is not CpuRole.HOST
    return "storage server's" if server else whose, home


def thread_pins(
    snapshot: Snapshot, roles: Mapping[int, CpuRole], emulators: Mapping[str, tuple[int, ...]]
) -> list[Pin]:
    """Pins the storage server's threads to its CPUs, and vhost threads to the emulator's CPUs."""
    mine = tuple(sorted({*_with(roles, CpuRole.OSS), *_with(roles, CpuRole.STORAGE_IRQ)}))
    pins = []
    for thread in snapshot.threads:
        if thread.role is ThreadRole.STORAGE:
            cpus, why = mine, "the storage server's CPUs, with those of the storage interrupts"
        elif thread.role is ThreadRole.VHOST and thread.guest and thread.guest in emulators:
            cpus, why = emulators[thread.guest], "carries the guest's virtio network: as emulator"
        else:
            continue
        pins.append(
            Pin(
                target=PinTarget.THREAD,
                name=thread.key,
                cpus=cpus,
                reason=why,
                guest=thread.guest,
                tid=thread.tid,
                start=thread.start,
            )
        )
    return pins


def _with(roles: Mapping[int, CpuRole], role: CpuRole) -> tuple[int, ...]:
    return tuple(sorted(cpu for cpu, its in roles.items() if its is role))


def is_movable(line: Interrupt) -> bool:
    """Tells whether a plan may move an interrupt: one that is managed stays."""
    if line.kind is DeviceKind.NETWORK:
        return line.managed is not True
    return line.managed is False


def _pin(
    line: Interrupt, fires: Sequence[int], home: tuple[int, ...], whose: str, turn: Iterator[int]
) -> Pin:
    queue = "" if line.queue is None else f" queue {line.queue}"
    if fires and set(fires) <= set(home):
        cpus, why = tuple(fires), f"{line.device}{queue} stays on the {whose} CPUs"
    else:
        cpus, why = (
            (home[next(turn) % len(home)],),
            f"{line.device}{queue} goes to the {whose} CPUs",
        )
    number = str(line.number)
    return Pin(target=PinTarget.INTERRUPT, name=number, cpus=cpus, reason=why, device=line.device)


def _stuck_words(lines: Sequence[Interrupt]) -> str:
    names = ", ".join(f"{line.number} ({line.device})" for line in lines)
    return f"interrupts that fire on guests' CPUs and cannot be moved: {names}"
