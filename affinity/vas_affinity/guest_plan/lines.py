"""Interrupts and threads of the storage server, kept off the guests' CPUs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vas_affinity.guest_plan.storage import StorageCpus, fires_on
from vas_affinity.placement import CpuRole, Pin, Target
from vas_affinity.snapshot import DeviceKind, Interrupt, Role, Snapshot
from vas_affinity.topology import Topology

_GUESTS = {CpuRole.VCPU, CpuRole.EMULATOR, CpuRole.IOTHREAD, CpuRole.IDLE}


def line_pins(
    snapshot: Snapshot, storage: StorageCpus, roles: Mapping[int, CpuRole]
) -> tuple[list[Pin], list[str]]:
    """Pins of the storage and network interrupts that can be moved, and what cannot be.

    A storage interrupt belongs on the storage interrupts' CPUs, a network interrupt on the storage
    server's others (never on a service thread's: [NS] is the slides' worst). One that is there
    already is held there. One whose kind of line nobody knows is tried only for a NIC, as a
    storage queue's is the kernel's own nearly always.
    """
    pins, stuck = [], []
    cpus_for = {
        DeviceKind.STORAGE: storage.cpus,
        DeviceKind.NETWORK: _with(roles, CpuRole.OSS) or _with(roles, CpuRole.HOST),
    }
    turns: dict[str, int] = {}
    for line in sorted(snapshot.interrupts, key=lambda line: line.number):
        home = cpus_for.get(line.kind, ())
        fires = fires_on(line, snapshot.topology)
        if not home:
            continue
        if _movable(line):
            turn = turns[line.device] = turns.get(line.device, -1) + 1
            pins.append(_pin(line, fires, home, turn, snapshot.topology))
        elif line.per_second and any(roles.get(cpu) in _GUESTS for cpu in fires):
            stuck.append(line)
    return pins, [_stuck_words(stuck)] if stuck else []


def thread_pins(
    snapshot: Snapshot, roles: Mapping[int, CpuRole], emulators: Mapping[str, tuple[int, ...]]
) -> list[Pin]:
    """The storage server's threads on its CPUs, and a guest's vhost threads beside its emulator."""
    mine = tuple(sorted({*_with(roles, CpuRole.OSS), *_with(roles, CpuRole.STORAGE_IRQ)}))
    pins = []
    for thread in snapshot.threads:
        if thread.role is Role.STORAGE:
            cpus, why = mine, "the storage server's CPUs, with those of the storage interrupts"
        elif thread.role is Role.VHOST and thread.guest and thread.guest in emulators:
            cpus, why = emulators[thread.guest], "carries the guest's virtio network: as emulator"
        else:
            continue
        pins.append(
            Pin(
                target=Target.THREAD,
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


def _movable(line: Interrupt) -> bool:
    if line.kind is DeviceKind.NETWORK:
        return line.managed is not True
    return line.managed is False


def _pin(
    line: Interrupt, fires: Sequence[int], home: tuple[int, ...], turn: int, topology: Topology
) -> Pin:
    whose = "storage interrupts'" if line.kind is DeviceKind.STORAGE else "storage server's"
    queue = "" if line.queue is None else f" queue {line.queue}"
    if fires and set(fires) <= set(home):
        cpus, why = tuple(fires), f"{line.device}{queue} stays on the {whose} CPUs"
    else:
        local = [cpu for cpu in home if topology.cpu(cpu).node == line.node] or home
        cpus, why = (local[turn % len(local)],), f"{line.device}{queue} goes to the {whose} CPUs"
    number = str(line.number)
    return Pin(target=Target.INTERRUPT, name=number, cpus=cpus, reason=why, device=line.device)


def _stuck_words(lines: Sequence[Interrupt]) -> str:
    names = ", ".join(f"{line.number} ({line.device})" for line in lines)
    return f"interrupts that fire on guests' CPUs and cannot be moved: {names}"
