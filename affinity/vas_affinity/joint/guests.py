"""The entities of guests: virtual cores, emulators, iothreads and vhost threads. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vas_affinity.entities import Entity, EntityKind, entity_of
from vas_affinity.guest_plan.guest_cores import GuestCores
from vas_affinity.guest_plan.machine import Core
from vas_affinity.guest_plan.plan import PlanSite
from vas_affinity.joint.choice import EntityChoice
from vas_affinity.machine.snapshot import Thread, ThreadRole
from vas_affinity.search.score import ASSUMED, WEIGHTS


def guest_choices(site: PlanSite, guest: GuestCores) -> Iterator[EntityChoice]:
    """Yields the entities of one guest; helpers that share the host's CPUs are none."""
    seen = {thread.key: thread for thread in site.snapshot.threads}
    yield from _virtual_cores(site, guest, seen)
    memory = _shares(guest)
    free = tuple(cpu for core in _helper_cores(site) for cpu in core.cpus)
    for number, cpu in enumerate(guest.iothread_cpus, 1):
        entity = _helper(guest, EntityKind.IOTHREAD, f"iothread/{number}", seen, ASSUMED.iothread)
        yield _choice(entity, cpu, free, memory)
    if not guest.emulator_cpus:
        return
    entity = _helper(guest, EntityKind.EMULATOR, "emulator", seen, ASSUMED.emulator)
    # Without iothreads the emulator does the guest's I/O.
    counted = 0.0 if guest.request.iothreads else WEIGHTS.least_io
    yield _choice(entity, guest.emulator_cpus[0], free, memory, counted)
    for thread in site.snapshot.threads:
        if thread.role is ThreadRole.VHOST and thread.guest == guest.request.name:
            cpu = guest.emulator_cpus[-1]
            yield _choice(_vhost(guest, thread), cpu, free, memory)


def _virtual_cores(
    site: PlanSite, guest: GuestCores, seen: Mapping[str, Thread]
) -> Iterator[EntityChoice]:
    """Yields a guest's virtual cores. One stays on the node that has its memory."""
    name = guest.request.name
    every = range(guest.request.vcpus)
    numbers = [every[first : first + guest.threads] for first in every[:: guest.threads]]
    for core, vcpus in zip(guest.cores, numbers, strict=True):
        members = tuple(f"{name}/vcpu/{vcpu}" for vcpu in vcpus)
        said = f"{vcpus[0]}-{vcpus[-1]}" if len(vcpus) > 1 else f"{vcpus[0]}"
        first = seen.get(members[0])
        entity = Entity(
            key=f"{name}/vcpu/{said}",
            kind=EntityKind.VCPU,
            members=members,
            use=ASSUMED.vcpu * len(vcpus),
            team=f"{name}/vcpu/{said}",
            guest=name,
            cpu=None if first is None else first.last_cpu,
            thread=first,
        )
        allowed = tuple(c.cpus[0] for c in site.cores if _is_like(c, core, guest.threads))
        yield EntityChoice(
            entity=entity,
            rule=core.cpus[0],
            allowed=tuple(cpu for cpu in allowed if cpu not in interrupted(site)),
            use=ASSUMED.vcpu * len(vcpus),
            wide=True,
            counted=WEIGHTS.least_io * len(vcpus),
            memory={} if core.node is None else {core.node: 1.0},
        )


def _is_like(core: Core, other: Core, threads: int) -> bool:
    same = (core.node, core.kind, core.isolated) == (other.node, other.kind, other.isolated)
    return same and len(core.cpus) >= threads


def interrupted(site: PlanSite) -> set[int]:
    """Returns the CPUs of the cores of storage interrupts."""
    fires = set(site.storage.cpus)
    return {cpu for core in site.cores if fires & set(core.cpus) for cpu in core.cpus}


def _helper_cores(site: PlanSite) -> list[Core]:
    taken = interrupted(site)
    return [core for core in site.cores if not core.isolated and core.cpus[0] not in taken]


def _helper(
    guest: GuestCores, kind: EntityKind, what: str, seen: Mapping[str, Thread], least: float
) -> Entity:
    name = guest.request.name
    key = f"{name}/{what}"
    thread = seen.get(key)
    mine = [t for each, t in seen.items() if each == key or each.startswith(f"{name}/emulator/")]
    members = (key, *(t.key for t in mine if t.key != key)) if what == "emulator" else (key,)
    measured = sum(seen[member].cpu or 0.0 for member in members if member in seen)
    return Entity(
        key=key,
        kind=kind,
        members=members,
        use=min(1.0, max(least, measured)),
        team=f"{name}/helpers",
        guest=name,
        device=None if thread is None else thread.device,
        cpu=None if thread is None else thread.last_cpu,
        thread=thread,
    )


def _vhost(guest: GuestCores, thread: Thread) -> Entity:
    team = f"{guest.request.name}/helpers"
    use = min(1.0, max(ASSUMED.vhost, thread.cpu or 0.0))
    return entity_of(thread.model_copy(update={"cpu": use}), team)


def _choice(
    entity: Entity,
    cpu: int,
    allowed: tuple[int, ...],
    memory: dict[int, float],
    counted: float | None = None,
) -> EntityChoice:
    use = entity.use or 0.0
    return EntityChoice(
        entity=entity,
        rule=cpu,
        allowed=allowed,
        use=use,
        counted=max(use, WEIGHTS.least_io) if counted is None else counted,
        memory=memory,
    )


def _shares(guest: GuestCores) -> dict[int, float]:
    return {node: 1 / len(guest.nodes) for node in guest.nodes}
