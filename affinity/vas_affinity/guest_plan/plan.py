"""A host's plan for its guests. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from vas_affinity.cpulist import format_cpulist
from vas_affinity.guest_plan.lines import line_pins, thread_pins
from vas_affinity.guest_plan.machine import Core, Near, cores_of
from vas_affinity.guest_plan.memory import Memory
from vas_affinity.guest_plan.reasons import nearness_words, vcpu_words
from vas_affinity.guest_plan.request import GuestRequest
from vas_affinity.guest_plan.roles import Kept, helper_cpus, kept_of, roles_of
from vas_affinity.guest_plan.seat import COMFORTS, FEW_CORES, Comfort, Room, Seat, find_seat
from vas_affinity.guest_plan.settings import GuestSettings
from vas_affinity.guest_plan.storage import StorageCpus, storage_cpus
from vas_affinity.placement import CpuRole, GuestCell, GuestShape, Pin, Placement, Target
from vas_affinity.snapshot import Snapshot
from vas_core.errors import BadInput


@dataclass(frozen=True)
class _Site:
    """A host before its guests have their cores."""

    snapshot: Snapshot
    settings: GuestSettings
    cores: tuple[Core, ...]
    storage: StorageCpus
    near: Near


@dataclass(frozen=True)
class _Seated:
    """The guests on their cores."""

    seats: tuple[Seat, ...]
    kept: Kept
    comfort: Comfort


def plan_guests(
    snapshot: Snapshot, requests: Sequence[GuestRequest], settings: GuestSettings | None = None
) -> Placement:
    """Where the guests' vCPUs, emulators, iothreads and memory are to be, each with its reason.

    The same input gives the same plan. Raises BadInput, saying what would fit, for guests that
    leave the storage server and its host too little.
    """
    settings = settings or GuestSettings()
    _check(requests)
    storage = storage_cpus(snapshot, settings)
    near = Near(snapshot.topology, storage.cpus)
    site = _Site(snapshot, settings, cores_of(snapshot.topology), storage, near)
    seated = _seat_all(site, requests)
    if seated is None:
        raise _too_many(site, requests)
    return _placement(site, seated)


def _check(requests: Sequence[GuestRequest]) -> None:
    names = [request.name for request in requests]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise BadInput("is asked for twice", where=twice, hint="give each guest its own name")


def _seat_all(site: _Site, requests: Sequence[GuestRequest]) -> _Seated | None:
    few = len(site.cores) <= FEW_CORES
    comforts = [comfort for comfort in COMFORTS if comfort.host or few]
    tried = (_seat_with(site, requests, comfort) for comfort in comforts)
    return next((seated for seated in tried if seated), None)


def _seat_with(site: _Site, requests: Sequence[GuestRequest], comfort: Comfort) -> _Seated | None:
    kept = kept_of(site.cores, site.storage, site.settings, host=comfort.host)
    free = [core for core in site.cores if core not in kept.interrupt_cores]
    memory = Memory(site.snapshot.topology, site.settings)
    threads = 1 if site.settings.junk_siblings else max(len(core.cpus) for core in site.cores)
    seats = []
    for request in requests:
        room = Room(memory.homes(request), threads)
        quiet = [core for core in free if 0 not in core.cpus]  # the kernel's own work is on CPU 0
        seat = find_seat(request, quiet, site.near, room, comfort)
        seat = seat or find_seat(request, free, site.near, room, comfort)
        if seat is None:
            return None
        seats.append(seat)
        free = [core for core in free if core not in seat.cores and core not in seat.helpers]
    usable = [core for core in free if not core.isolated]
    return _Seated(tuple(seats), kept, comfort) if len(usable) >= kept.more else None


def _too_many(site: _Site, requests: Sequence[GuestRequest]) -> BadInput:
    *before, last = requests
    for count in range(min(last.vcpus - 1, len(site.snapshot.topology.online)), 0, -1):
        if _seat_all(site, [*before, last.model_copy(update={"vcpus": count})]):
            return _refusal(site, last, f"{count} vCPU{'s' * (count > 1)} fit")
    if before and not _seat_all(site, before):
        return _too_many(site, before)
    return _refusal(site, last, "none fits")


def _refusal(site: _Site, request: GuestRequest, fits: str) -> BadInput:
    kept = kept_of(site.cores, site.storage, site.settings, host=True)
    what = (
        f"{request.vcpus} vCPUs do not fit on {site.snapshot.host}, {fits}: of {len(site.cores)} "
        f"cores {len(kept.interrupt_cores) + kept.oss} are the storage server's and {kept.host} "
        f"the host's"
    )
    return BadInput(what, where=request.name, hint="ask for fewer, or keep a smaller share")


def _placement(site: _Site, seated: _Seated) -> Placement:
    topology, comfort = site.snapshot.topology, seated.comfort
    roles = roles_of(
        topology,
        site.cores,
        seated.kept,
        _guest_roles(seated),
        site.near,
        junk=site.settings.junk_siblings,
    )
    memory = Memory(topology, site.settings)
    given = [memory.give(seat) for seat in seated.seats]
    pins = [pin for seat in seated.seats for pin in _guest_pins(site, seat, comfort, roles)]
    emulators = {pin.guest: pin.cpus for pin in pins if pin.target is Target.EMULATOR and pin.guest}
    lines, line_notes = line_pins(site.snapshot, site.storage, roles)
    return Placement(
        host=site.snapshot.host,
        roles=roles,
        pins=(*pins, *thread_pins(site.snapshot, roles, emulators), *lines),
        memory=tuple(where for where, _ in given),
        shapes=tuple(
            _shape(seat, cells) for seat, (_, cells) in zip(seated.seats, given, strict=True)
        ),
        notes=(*site.storage.notes, *_notes(site, seated, roles), *memory.notes, *line_notes),
    )


def _guest_roles(seated: _Seated) -> dict[int, CpuRole]:
    roles: dict[int, CpuRole] = {}
    comfort = seated.comfort
    for seat in seated.seats:
        helpers = helper_cpus(seat, emulator=comfort.emulator, iothreads=comfort.iothreads)
        for role, cpus in helpers.items():
            roles |= dict.fromkeys(cpus, role)
        for core in seat.helpers:
            roles |= {cpu: CpuRole.IDLE for cpu in core.cpus if cpu not in roles}
        roles |= {cpu: CpuRole.IDLE for core in seat.cores for cpu in core.cpus}
        roles |= dict.fromkeys(seat.vcpus, CpuRole.VCPU)
    return roles


def _guest_pins(site: _Site, seat: Seat, comfort: Comfort, roles: dict[int, CpuRole]) -> list[Pin]:
    name, near, storage = seat.request.name, site.near, site.storage
    core_of = {cpu: core for core in seat.cores for cpu in core.cpus}
    pins = [
        Pin(
            target=Target.VCPU,
            name=str(number),
            cpus=(cpu,),
            guest=name,
            reason=vcpu_words(core_of[cpu], near, storage),
        )
        for number, cpu in enumerate(seat.vcpus)
    ]
    helpers = helper_cpus(seat, emulator=comfort.emulator, iothreads=comfort.iothreads)
    own = "its own CPU: core {} {}"
    shared = _shared(roles)
    emulator = helpers[CpuRole.EMULATOR] or shared
    why = own if helpers[CpuRole.EMULATOR] else "the host's CPUs, as no core is left: core {} {}"
    pins.append(
        Pin(
            target=Target.EMULATOR,
            name="emulator",
            cpus=emulator,
            guest=name,
            reason=_helper_words(site, why, emulator[0]),
        )
    )
    for number in range(seat.request.iothreads):
        mine = helpers[CpuRole.IOTHREAD]
        cpus = (mine[number],) if mine else shared
        why = own if mine else "the host's CPUs, as no core is left: core {} {}"
        pins.append(
            Pin(
                target=Target.IOTHREAD,
                name=str(number + 1),
                cpus=cpus,
                guest=name,
                reason=_helper_words(site, why, cpus[0]),
            )
        )
    return pins


def _helper_words(site: _Site, words: str, cpu: int) -> str:
    core = site.snapshot.topology.cpu(cpu).core
    return words.format(core, nearness_words(cpu, site.near, site.storage))


def _shared(roles: dict[int, CpuRole]) -> tuple[int, ...]:
    """CPUs for helpers that have none of their own: the host's, else the storage server's."""
    for role in (CpuRole.HOST, CpuRole.OSS, CpuRole.STORAGE_IRQ):
        cpus = tuple(cpu for cpu, its in sorted(roles.items()) if its is role)
        if cpus:
            return cpus
    raise AssertionError("a storage interrupt's CPU is always kept")


def _shape(seat: Seat, cells: tuple[GuestCell, ...]) -> GuestShape:
    """Siblings as siblings; a socket for each equal part of the cores of the cells' nodes."""
    per_node = [sum(core.node == cell.node for core in seat.cores) for cell in cells]
    cores = gcd(*per_node) if per_node else len(seat.cores)
    return GuestShape(
        guest=seat.request.name,
        vcpus=seat.request.vcpus,
        sockets=len(seat.cores) // cores,
        cores=cores,
        threads=seat.threads,
        iothreads=seat.request.iothreads,
        cells=cells,
    )


def _notes(site: _Site, seated: _Seated, roles: dict[int, CpuRole]) -> list[str]:
    notes = []
    if not seated.comfort.host:
        notes.append("the host's other work shares the storage server's cores: no core is left")
    elif not seated.comfort.iothreads:
        notes.append("emulators and iothreads share the host's cores: no core is left for them")
    elif not seated.comfort.emulator:
        notes.append("emulators share the host's cores: no core is left for them")
    for seat in seated.seats:
        notes += _seat_notes(site, seat)
    spare = [core for core in site.cores if core.isolated and roles[core.cpus[0]] is CpuRole.IDLE]
    if spare:
        cpus = format_cpulist(cpu for core in spare for cpu in core.cpus)
        notes.append(f"CPUs {cpus} are isolated and left idle: the host's scheduler keeps off them")
    return notes


def _seat_notes(site: _Site, seat: Seat) -> list[str]:
    name, notes = seat.request.name, []
    if len(seat.nodes) > 1:
        where = ", ".join(map(str, seat.nodes))
        notes.append(f"{name}: no node has cores for all of it: it spans nodes {where}")
    kinds = {core.kind for core in site.cores}
    if len(kinds) > 1:
        notes.append(f"{name}: this machine has {len(kinds)} kinds of cores; its vCPUs have one")
    if any(core.isolated for core in site.cores) and not all(c.isolated for c in seat.cores):
        notes.append(f"{name}: not all of its vCPUs fit on the isolated CPUs")
    if site.settings.junk_siblings and any(len(core.cpus) > 1 for core in seat.cores):
        notes.append(f"{name}: the siblings of its vCPUs are left without work (junk siblings)")
    return notes
