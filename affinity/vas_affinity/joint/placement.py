"""Turns the places of a joint problem's entities into a plan with reasons. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vas_affinity.entities import Entity, EntityKind, HostProblem
from vas_affinity.entities.reasons import reasons
from vas_affinity.guest_plan.guest_cores import GuestCores
from vas_affinity.guest_plan.machine import Core
from vas_affinity.guest_plan.plan import AssignedGuests, PlanSite, placement_of
from vas_affinity.joint.server import OSS
from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_affinity.search.score import score


def joint_placement(
    site: PlanSite, assigned: AssignedGuests, problem: HostProblem, places: Ints
) -> HostPlacement:
    """Returns the plan. Raises BadInput if the host does not have the memory."""
    cpus = [problem.arrays.cpus[place] for place in places.tolist()]
    at = dict(zip((entity.key for entity in problem.entities), cpus, strict=True))
    core_of = {cpu: core for core in site.cores for cpu in core.cpus}
    guests = tuple(_guest(guest, at, core_of, _vhosts(problem, guest)) for guest in assigned.guests)
    oss = {core_of[at[e.key]] for e in problem.entities if e.team == OSS}
    plan = placement_of(site, replace(assigned, guests=guests), _by_number(oss))
    why = dict(zip(at, reasons(problem, places), strict=True))
    placed = {_name(entity): entity for entity in problem.entities}
    pins = tuple(_pin(pin, placed.get((pin.target, pin.name)), at, why) for pin in plan.pins)
    return plan.model_copy(update={"pins": pins})


def in_order(problem: HostProblem, places: Ints) -> Ints:
    """Returns the places with each guest's virtual cores in order of their CPUs.

    Only those are exchanged for which the score is the same; a person reads such a plan sooner.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for row, entity in enumerate(problem.entities):
        if entity.kind is EntityKind.VCPU:
            free = tuple(np.flatnonzero(~problem.arrays.forbidden[row]).tolist())
            groups.setdefault((entity.guest, len(entity.members), free), []).append(row)
    ordered = places.copy()
    for rows in groups.values():
        ordered[rows] = np.sort(places[rows])
    same = score(problem.arrays, ordered) <= score(problem.arrays, places)
    return ordered if same else places


def _vhosts(problem: HostProblem, guest: GuestCores) -> list[str]:
    mine = [entity for entity in problem.entities if entity.guest == guest.request.name]
    return [entity.key for entity in mine if entity.kind is EntityKind.VHOST]


def _guest(
    guest: GuestCores, at: Mapping[str, int], core_of: Mapping[int, Core], vhosts: Sequence[str]
) -> GuestCores:
    """Returns a guest on the cores that its entities have.

    The emulator also gets what is left of its own core, and the CPUs of the vhost threads: libvirt
    keeps them in the emulator's cgroup, so that they may run nowhere else.
    """
    name = guest.request.name
    virtual = [key for key in at if key.startswith(f"{name}/vcpu/")]
    iothreads = tuple(at[f"{name}/iothread/{n}"] for n, _ in enumerate(guest.iothread_cpus, 1))
    emulator: tuple[int, ...] = ()
    if guest.emulator_cpus:
        own = at[f"{name}/emulator"]
        more = [*core_of[own].cpus, *(at[key] for key in vhosts)]
        emulator = (own, *dict.fromkeys(c for c in more if c not in (own, *iothreads)))
    helpers = _by_number(core_of[cpu] for cpu in (*iothreads, *emulator))
    return replace(
        guest,
        cores=tuple(core_of[at[key]] for key in virtual),
        helpers=helpers,
        iothread_cpus=iothreads,
        emulator_cpus=emulator,
    )


def _by_number(cores: Iterable[Core]) -> tuple[Core, ...]:
    return tuple(sorted(set(cores), key=lambda core: core.cpus))


def _name(entity: Entity) -> tuple[PinTarget, str]:
    if entity.line is not None:
        return PinTarget.INTERRUPT, str(entity.line.number)
    return PinTarget.THREAD, entity.key


def _pin(pin: Pin, entity: Entity | None, at: Mapping[str, int], why: Mapping[str, str]) -> Pin:
    if entity is None:
        return pin
    reason = pin.reason
    if pin.target is PinTarget.THREAD:
        reason = f"{pin.reason}; {why[entity.key]}"
    return pin.model_copy(update={"cpus": (at[entity.key],), "reason": reason})
