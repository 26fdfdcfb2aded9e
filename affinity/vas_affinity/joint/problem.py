"""The arrays of the joint problem, from the plan that the rule makes. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from vas_affinity.entities import EntityKind, HostProblem, PairWeights, matrices
from vas_affinity.entities.firing import Firing, firing
from vas_affinity.guest_plan.plan import AssignedGuests, PlanSite
from vas_affinity.joint.choice import EntityChoice
from vas_affinity.joint.guests import guest_choices
from vas_affinity.joint.links import apart, assumed_links, device_links, own
from vas_affinity.joint.server import fixed_use, server_choices
from vas_affinity.machine.distance import Distances
from vas_affinity.machine.distance.matrix import Bools, Floats, Ints
from vas_affinity.placement import HostPlacement, PinTarget
from vas_affinity.search.score import WEIGHTS, PlacementProblem

_IO = (EntityKind.IOTHREAD, EntityKind.VHOST, EntityKind.STORAGE)


@dataclass(frozen=True, kw_only=True)
class JointInput:
    """The input of a joint plan besides the snapshot: which threads communicate, if measured.

    `distances` None: those of the papers' ratio table.
    """

    graph: PairWeights = field(default_factory=dict)
    distances: Distances | None = None
    seed: int = 0
    budget_seconds: float | None = None


def joint_problem(
    site: PlanSite,
    assigned: AssignedGuests,
    rule: HostPlacement,
    distances: Distances,
    graph: PairWeights,
) -> tuple[HostProblem, Ints]:
    """Returns the problem of placing a host's entities, and the rule's places.

    The rule's places break no constraint: one that the host is too small for is left out, and a
    note says so.
    """
    alone = {
        pin.name: pin.cpus[0]
        for pin in rule.pins
        if pin.target is PinTarget.THREAD and len(pin.cpus) == 1
    }
    choices = [c for guest in assigned.guests for c in guest_choices(site, guest)]
    choices += server_choices(site, assigned, rule)
    where = _firing(site, choices)
    notes = []
    divided = apart(choices)
    choices = [replace(c, rule=alone.get(c.entity.key, c.rule)) for c in choices]
    places = np.array([distances.index[choice.rule] for choice in choices], dtype=np.intp)
    core = np.array([site.snapshot.topology.cpu(cpu).core for cpu in distances.cpus])
    met = divided & (core[places][:, None] == core[places][None, :])
    if met.any():
        names = sorted({choices[row].entity.key for row in np.flatnonzero(met.any(axis=1))})
        notes.append(f"no core is left to keep these apart: {', '.join(names[:4])}")
        divided &= ~met
    arrays = _arrays(site, choices, distances, where, graph)
    index = distances.index
    today = [-1 if c.entity.cpu is None else index.get(c.entity.cpu, -1) for c in choices]
    problem = HostProblem(
        snapshot=site.snapshot,
        entities=tuple(choice.entity for choice in choices),
        arrays=replace(arrays, apart=divided, own=own(choices)),
        today=_on_core(choices, np.array(today, dtype=np.intp), core),
        firing=where,
        io=np.array([choice.entity.kind in _IO for choice in choices]),
        notes=tuple(notes),
    )
    return problem, places


def _arrays(
    site: PlanSite,
    choices: list[EntityChoice],
    distances: Distances,
    where: Firing,
    graph: PairWeights,
) -> PlacementProblem:
    snapshot = site.snapshot
    entities = [choice.entity for choice in choices]
    use = np.array([choice.use for choice in choices])
    counted = np.array([choice.counted for choice in choices])
    busiest = matrices.raised(np.array([e.kind in _IO for e in entities]), use, WEIGHTS)
    measured = matrices.links(snapshot, entities, distances, graph, busiest)
    placed = {e.line.number: e for e in entities if e.line is not None}
    background = np.zeros(len(distances.cpus))
    for cpu, share in fixed_use(site, placed).items():
        background[distances.index[cpu]] = share
    return PlacementProblem(
        threads=tuple(entity.key for entity in entities),
        cpus=distances.cpus,
        distance=distances.between,
        core=np.array([snapshot.topology.cpu(cpu).core for cpu in distances.cpus]),
        communication=measured.between
        + assumed_links(choices, graph)
        + device_links(choices, snapshot.guests),
        activity=use,
        background=background,
        anchor=measured.anchor,
        interrupt=matrices.interrupt(entities, distances, where, counted, WEIGHTS),
        memory=matrices.memory(
            np.maximum(use, WEIGHTS.least_io), distances, [choice.memory for choice in choices]
        ),
        forbidden=_forbidden(site, choices, distances, where),
        wide=np.array([choice.wide for choice in choices]),
    )


def _firing(site: PlanSite, choices: list[EntityChoice]) -> Firing:
    """Returns the CPUs of storage interrupts, and those of network interrupts that stay."""
    storage: dict[str, tuple[int, ...]] = {}
    for cpu, names in site.storage.devices.items():
        for name in names or ("storage",):
            storage[name] = (*storage.get(name, ()), cpu)
    moves = {choice.entity.device for choice in choices if choice.entity.line}
    network = firing(site.snapshot).network
    return Firing(storage, {name: cpus for name, cpus in network.items() if name not in moves})


def _forbidden(
    site: PlanSite, choices: list[EntityChoice], distances: Distances, where: Firing
) -> Bools:
    """Returns the CPUs that each entity must not have; for the server's threads also [NS].

    The rule's CPU is never forbidden.
    """
    network = matrices.network_cores(site.snapshot, distances, where)
    rows = []
    for choice in choices:
        barred = ~np.isin(distances.cpus, choice.allowed)
        if choice.entity.kind is EntityKind.STORAGE:
            barred |= network
        barred[distances.index[choice.rule]] = False
        rows.append(barred)
    return np.array(rows)


def _on_core(choices: list[EntityChoice], today: Ints, core: Ints) -> Ints:
    """Returns today's places, with a virtual core on the first CPU of its first vCPU's core."""
    first: Floats = np.array([np.flatnonzero(core == core[row])[0] for row in range(len(core))])
    wide = np.array([choice.wide for choice in choices])
    return np.asarray(np.where(wide & (today >= 0), first[today], today), dtype=np.intp)
