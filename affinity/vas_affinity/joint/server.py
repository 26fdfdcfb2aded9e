"""The entities of the storage server and its host: kept cores, threads, interrupts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vas_affinity.entities import Entity, EntityKind, entity_of
from vas_affinity.guest_plan.lines import is_movable
from vas_affinity.guest_plan.machine import Core
from vas_affinity.guest_plan.plan import AssignedGuests, PlanSite
from vas_affinity.joint.choice import EntityChoice
from vas_affinity.joint.guests import interrupted
from vas_affinity.machine.firing import busy_lines, by_device, firing_cpus
from vas_affinity.machine.snapshot import DeviceKind, Interrupt, PciDevice, Thread, ThreadRole
from vas_affinity.placement import CpuRole, HostPlacement, PinTarget
from vas_affinity.search.score import ASSUMED, WEIGHTS

OSS, HOST = "oss", "host"
"""The teams of the storage server, and of the host's other work."""


def server_choices(
    site: PlanSite, assigned: AssignedGuests, rule: HostPlacement
) -> Iterator[EntityChoice]:
    """Yields the kept cores, the busy threads of the storage server and the movable interrupts."""
    taken = interrupted(site)
    kept = [core for core in site.cores if core.cpus[0] not in taken]
    free = tuple(core.cpus[0] for core in kept if not core.isolated)
    wanted = ((OSS, CpuRole.OSS, assigned.kept.oss), (HOST, CpuRole.HOST, assigned.kept.host))
    for team, role, count in wanted:
        cores = [core for core in kept if rule.roles[core.cpus[0]] is role and not core.isolated]
        yield from _reserves(team, cores[:count], free)
    yield from _threads(site, rule)
    yield from _lines(site, rule)


def _reserves(team: str, cores: Sequence[Core], free: tuple[int, ...]) -> Iterator[EntityChoice]:
    for number, core in enumerate(cores):
        key = f"reserve/{team}/{number}"
        yield EntityChoice(
            entity=Entity(key=key, kind=EntityKind.RESERVE, use=0.0, team=team),
            rule=core.cpus[0],
            allowed=free,
            use=0.0,
            wide=True,
            counted=ASSUMED.storage if team == OSS else 0.0,
        )


def busy_threads(threads: Sequence[Thread]) -> list[Thread]:
    """Returns the storage server's threads that were seen at work; the others may be anywhere."""
    return [
        thread
        for thread in threads
        if thread.role is ThreadRole.STORAGE and (thread.cpu or 0.0) >= WEIGHTS.least_io
    ]


def _threads(site: PlanSite, rule: HostPlacement) -> Iterator[EntityChoice]:
    """Yields the busy threads, by the rule on the least used of the storage server's CPUs."""
    mine = [cpu for cpu, role in rule.roles.items() if role in (CpuRole.OSS, CpuRole.STORAGE_IRQ)]
    taken = interrupted(site)
    kept = [core for core in site.cores if core.cpus[0] not in taken]
    free = tuple(cpu for core in kept if not core.isolated for cpu in core.cpus)
    used = dict.fromkeys(mine, 0.0)
    threads = busy_threads(site.snapshot.threads)
    for thread in sorted(threads, key=lambda t: (-(t.cpu or 0.0), t.key)):
        use = min(1.0, thread.cpu or 0.0)
        cpu = min(used, key=lambda cpu: (used[cpu], cpu))
        used[cpu] += use
        yield EntityChoice(
            entity=entity_of(thread, OSS),
            rule=cpu,
            allowed=tuple(sorted({*free, *mine})),
            use=use,
            counted=use,
        )


def _lines(site: PlanSite, rule: HostPlacement) -> Iterator[EntityChoice]:
    """Yields the interrupts that can be moved and fire; the rule places those that do not."""
    topology, storage = site.snapshot.topology, site.storage.cpus
    pins = {pin.name: pin.cpus for pin in rule.pins if pin.target is PinTarget.INTERRUPT}
    free = {cpu for core in site.cores if not core.isolated for cpu in core.cpus} - set(storage)
    nodes = {name: device.node for device in site.snapshot.devices for name in _names(device)}
    for line in busy_movable(site.snapshot.interrupts):
        if str(line.number) not in pins:
            continue  # it came after that plan was made
        cpu = pins[str(line.number)][0]
        fires = firing_cpus(line, topology)
        node = nodes.get(line.device) if line.node is None else line.node
        use = min(1.0, (line.per_second or 0.0) * ASSUMED.interrupt_seconds)
        is_storage = line.kind is DeviceKind.STORAGE
        yield EntityChoice(
            entity=Entity(
                key=f"interrupt/{line.number}",
                kind=EntityKind.INTERRUPT,
                use=use,
                team=OSS if is_storage else HOST,
                device=line.device,
                cpu=fires[0] if fires else None,
                line=line,
            ),
            rule=cpu,
            allowed=storage if is_storage else tuple(sorted({*free, cpu})),
            use=use,
            memory={} if node is None else {node: 1.0},
        )


def busy_movable(lines: Sequence[Interrupt]) -> list[Interrupt]:
    """Returns the interrupts that can be moved; of a device whose rates are known, those firing."""
    movable = by_device(line for line in lines if is_movable(line))
    busy = [line for mine in movable.values() for line in busy_lines(mine)]
    return sorted(busy, key=lambda line: line.number)


def fixed_use(site: PlanSite, placed: Mapping[int, object]) -> dict[int, float]:
    """Returns CPU -> use by the kernel's own work and by interrupts that no plan places."""
    topology = site.snapshot.topology
    use = {0: ASSUMED.kernel} if 0 in topology.online else {}
    for line in site.snapshot.interrupts:
        fires = firing_cpus(line, topology)
        if line.number in placed or not line.per_second:
            continue
        for cpu in fires:
            share = line.per_second * ASSUMED.interrupt_seconds / len(fires)
            use[cpu] = use.get(cpu, 0.0) + share
    return use


def _names(device: PciDevice) -> tuple[str, ...]:
    return (device.name, device.address, *device.names)
