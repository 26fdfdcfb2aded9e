"""Plans the guests of a host. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from vas_affinity.guest_plan.guest_cores import (
    CONCESSIONS,
    FEW_CORES,
    Capacity,
    Concessions,
    GuestCores,
    choose_cores,
)
from vas_affinity.guest_plan.lines import line_pins, thread_pins
from vas_affinity.guest_plan.machine import Core, Near, cores_of
from vas_affinity.guest_plan.memory import NodeMemory
from vas_affinity.guest_plan.reasons import nearness_words, vcpu_words
from vas_affinity.guest_plan.request import GuestRequest
from vas_affinity.guest_plan.roles import KeptCores, kept_of, roles_of
from vas_affinity.guest_plan.settings import GuestPlanSettings
from vas_affinity.guest_plan.storage import StorageCpus, storage_cpus
from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.placement import (
    CpuRole,
    GuestCell,
    GuestShape,
    HostPlacement,
    Pin,
    PinTarget,
)
from vas_core.errors import BadInput


@dataclass(frozen=True)
class PlanSite:
    """A host before its guests get cores."""

    snapshot: Snapshot
    settings: GuestPlanSettings
    cores: tuple[Core, ...]
    storage: StorageCpus
    near: Near


@dataclass(frozen=True)
class AssignedGuests:
    """The guests with their cores, what is kept from them, and what was given up."""

    guests: tuple[GuestCores, ...]
    kept: KeptCores
    concessions: Concessions


def plan_guests(
    snapshot: Snapshot, requests: Sequence[GuestRequest], settings: GuestPlanSettings | None = None
) -> HostPlacement:
    """Plans the CPUs of the guests' vCPUs, emulators and iothreads, and the nodes of their memory.

    This is the rule, from which the joint plan starts. The same input gives the same plan; each pin
    has its reason. Raises BadInput, which says what would fit, if the guests leave the storage
    server and its host too few cores.
    """
    site = site_of(snapshot, settings or GuestPlanSettings())
    return placement_of(site, assign_guests(site, requests))


def site_of(snapshot: Snapshot, settings: GuestPlanSettings) -> PlanSite:
    """Returns a host before its guests get cores."""
    storage = storage_cpus(snapshot, settings)
    near = Near(snapshot.topology, storage.cpus)
    return PlanSite(snapshot, settings, cores_of(snapshot.topology), storage, near)


def assign_guests(site: PlanSite, requests: Sequence[GuestRequest]) -> AssignedGuests:
    """Returns the guests with their cores by the rule. Raises BadInput if they do not fit."""
    _check(requests)
    assigned = _assign_all(site, requests)
    if assigned is None:
        raise _too_many(site, requests)
    return assigned


def assign_at(
    site: PlanSite, assigned: AssignedGuests, homes: Mapping[str, int]
) -> AssignedGuests | None:
    """Returns the same guests by the rule, those in `homes` on that node; None if none fits.

    Each guest's memory must fit on its node, and nothing more may be given up.
    """
    memory = NodeMemory(site.snapshot.topology, site.settings)
    requests = [guest.request for guest in assigned.guests]
    if any(r.name in homes and homes[r.name] not in memory.homes(r) for r in requests):
        return None
    found = _assign_with(site, requests, assigned.concessions, homes)
    if found is None:
        return None
    there = {guest.request.name: guest.nodes for guest in found.guests}
    return found if all(there[name] == (node,) for name, node in homes.items()) else None


def _check(requests: Sequence[GuestRequest]) -> None:
    names = [request.name for request in requests]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise BadInput("is asked for twice", where=twice, hint="give each guest its own name")


def _assign_all(site: PlanSite, requests: Sequence[GuestRequest]) -> AssignedGuests | None:
    few = len(site.cores) <= FEW_CORES
    levels = [level for level in CONCESSIONS if few or not level.host_shares]
    tried = (_assign_with(site, requests, level) for level in levels)
    return next((assigned for assigned in tried if assigned), None)


def _assign_with(
    site: PlanSite,
    requests: Sequence[GuestRequest],
    concessions: Concessions,
    at: Mapping[str, int] | None = None,
) -> AssignedGuests | None:
    kept = kept_of(site.cores, site.storage, site.settings, host=not concessions.host_shares)
    free = [core for core in site.cores if core not in kept.interrupt_cores]
    memory = NodeMemory(site.snapshot.topology, site.settings)
    threads = 1 if site.settings.junk_siblings else max(len(core.cpus) for core in site.cores)
    chosen = []
    for request in requests:
        home = (at or {}).get(request.name)
        homes = memory.homes(request) if home is None else frozenset({home})
        capacity = Capacity(homes, threads)
        quiet = [core for core in free if 0 not in core.cpus]  # the kernel's own work is on CPU 0
        guest = choose_cores(request, quiet, site.near, capacity, concessions)
        guest = guest or choose_cores(request, free, site.near, capacity, concessions)
        if guest is None:
            return None
        chosen.append(guest)
        free = [core for core in free if core not in guest.cores and core not in guest.helpers]
    usable = [core for core in free if not core.isolated]
    return AssignedGuests(tuple(chosen), kept, concessions) if len(usable) >= kept.more else None


def _too_many(site: PlanSite, requests: Sequence[GuestRequest]) -> BadInput:
    *before, last = requests
    for count in range(min(last.vcpus - 1, len(site.snapshot.topology.online)), 0, -1):
        if _assign_all(site, [*before, last.model_copy(update={"vcpus": count})]):
            return _refusal(site, last, f"{count} vCPU{'s' * (count > 1)} fit")
    if before and not _assign_all(site, before):
        return _too_many(site, before)
    return _refusal(site, last, "none fits")


def _refusal(site: PlanSite, request: GuestRequest, fits: str) -> BadInput:
    kept = kept_of(site.cores, site.storage, site.settings, host=True)
    what = (
        f"{request.vcpus} vCPUs do not fit on {site.snapshot.host}, {fits}: of {len(site.cores)} "
        f"cores {len(kept.interrupt_cores) + kept.oss} are the storage server's and {kept.host} "
        f"the host's"
    )
    return BadInput(what, where=request.name, hint="ask for fewer, or keep a smaller share")


def placement_of(
    site: PlanSite, assigned: AssignedGuests, oss: Sequence[Core] | None = None
) -> HostPlacement:
    """Returns the plan of guests with these cores, the storage server's threads and interrupts.

    `oss` are the storage server's cores; None for those nearest to the storage interrupts. Raises
    BadInput if the host does not have the memory.
    """
    topology = site.snapshot.topology
    roles = roles_of(
        topology,
        site.cores,
        assigned.kept,
        _guest_roles(assigned),
        site.near,
        junk=site.settings.junk_siblings,
        oss=oss,
    )
    memory = NodeMemory(topology, site.settings)
    given = [memory.give(guest) for guest in assigned.guests]
    pins = [pin for guest in assigned.guests for pin in _guest_pins(site, guest, roles)]
    emulators = {
        pin.guest: pin.cpus for pin in pins if pin.target is PinTarget.EMULATOR and pin.guest
    }
    lines, line_notes = line_pins(site.snapshot, site.storage, roles)
    return HostPlacement(
        host=site.snapshot.host,
        roles=roles,
        pins=(*pins, *thread_pins(site.snapshot, roles, emulators), *lines),
        memory=tuple(where for where, _ in given),
        shapes=tuple(
            _shape(guest, cells) for guest, (_, cells) in zip(assigned.guests, given, strict=True)
        ),
        notes=(*site.storage.notes, *_notes(site, assigned, roles), *memory.notes, *line_notes),
    )


def _guest_roles(assigned: AssignedGuests) -> dict[int, CpuRole]:
    roles: dict[int, CpuRole] = {}
    for guest in assigned.guests:
        roles |= dict.fromkeys(guest.iothread_cpus, CpuRole.IOTHREAD)
        roles |= dict.fromkeys(guest.emulator_cpus, CpuRole.EMULATOR)
        for core in guest.helpers:
            roles |= {cpu: CpuRole.IDLE for cpu in core.cpus if cpu not in roles}
        roles |= {cpu: CpuRole.IDLE for core in guest.cores for cpu in core.cpus}
        roles |= dict.fromkeys(guest.vcpus, CpuRole.VCPU)
    return roles


def _guest_pins(site: PlanSite, guest: GuestCores, roles: dict[int, CpuRole]) -> list[Pin]:
    name, near, storage = guest.request.name, site.near, site.storage
    core_of = {cpu: core for core in guest.cores for cpu in core.cpus}
    pins = [
        Pin(
            target=PinTarget.VCPU,
            name=str(number),
            cpus=(cpu,),
            guest=name,
            reason=vcpu_words(core_of[cpu], near, storage),
        )
        for number, cpu in enumerate(guest.vcpus)
    ]
    own = "its own CPU: core {} {}"
    shared = _shared(roles)
    emulator = guest.emulator_cpus or shared
    why = own if guest.emulator_cpus else "the host's CPUs, as no core is left: core {} {}"
    pins.append(
        Pin(
            target=PinTarget.EMULATOR,
            name="emulator",
            cpus=emulator,
            guest=name,
            reason=_helper_words(site, why, emulator[0]),
        )
    )
    for number in range(guest.request.iothreads):
        mine = guest.iothread_cpus
        cpus = (mine[number],) if mine else shared
        why = own if mine else "the host's CPUs, as no core is left: core {} {}"
        pins.append(
            Pin(
                target=PinTarget.IOTHREAD,
                name=str(number + 1),
                cpus=cpus,
                guest=name,
                reason=_helper_words(site, why, cpus[0]),
            )
        )
    return pins


def _helper_words(site: PlanSite, words: str, cpu: int) -> str:
    core = site.snapshot.topology.cpu(cpu).core
    return words.format(core, nearness_words(cpu, site.near, site.storage))


def _shared(roles: dict[int, CpuRole]) -> tuple[int, ...]:
    """Returns the CPUs of helpers without their own: the host's, else the storage server's."""
    for role in (CpuRole.HOST, CpuRole.OSS, CpuRole.STORAGE_IRQ):
        cpus = tuple(cpu for cpu, its in sorted(roles.items()) if its is role)
        if cpus:
            return cpus
    raise AssertionError("a storage interrupt's CPU is always kept")


def _shape(guest: GuestCores, cells: tuple[GuestCell, ...]) -> GuestShape:
    """Shows siblings as siblings, and a socket for each equal part of the cells' nodes' cores."""
    per_node = [sum(core.node == cell.node for core in guest.cores) for cell in cells]
    cores = gcd(*per_node) if per_node else len(guest.cores)
    return GuestShape(
        guest=guest.request.name,
        vcpus=guest.request.vcpus,
        sockets=len(guest.cores) // cores,
        cores=cores,
        threads=guest.threads,
        iothreads=guest.request.iothreads,
        cells=cells,
    )


def _notes(site: PlanSite, assigned: AssignedGuests, roles: dict[int, CpuRole]) -> list[str]:
    notes = []
    if assigned.concessions.host_shares:
        notes.append("the host's other work shares the storage server's cores: no core is left")
    elif assigned.concessions.iothreads_share:
        notes.append("emulators and iothreads share the host's cores: no core is left for them")
    elif assigned.concessions.emulator_shares:
        notes.append("emulators share the host's cores: no core is left for them")
    for guest in assigned.guests:
        notes += _guest_notes(site, guest)
    spare = [core for core in site.cores if core.isolated and roles[core.cpus[0]] is CpuRole.IDLE]
    if spare:
        cpus = format_cpulist(cpu for core in spare for cpu in core.cpus)
        notes.append(f"CPUs {cpus} are isolated and left idle: the host's scheduler keeps off them")
    return notes


def _guest_notes(site: PlanSite, guest: GuestCores) -> list[str]:
    name, notes = guest.request.name, []
    if len(guest.nodes) > 1:
        where = ", ".join(map(str, guest.nodes))
        notes.append(f"{name}: no node has cores for all of it: it spans nodes {where}")
    kinds = {core.kind for core in site.cores}
    if len(kinds) > 1:
        notes.append(f"{name}: this machine has {len(kinds)} kinds of cores; its vCPUs have one")
    if any(core.isolated for core in site.cores) and not all(c.isolated for c in guest.cores):
        notes.append(f"{name}: not all of its vCPUs fit on the isolated CPUs")
    if site.settings.junk_siblings and any(len(core.cpus) > 1 for core in guest.cores):
        notes.append(f"{name}: the siblings of its vCPUs are left without work (junk siblings)")
    return notes
