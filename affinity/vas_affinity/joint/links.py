"""Finds which entities communicate, and which must not share a core or CPU. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vas_affinity.entities import Entity, EntityKind, PairWeights
from vas_affinity.joint.choice import EntityChoice
from vas_affinity.machine.distance.matrix import Bools, Floats
from vas_affinity.machine.snapshot import DeviceKind, LibvirtGuest
from vas_affinity.search.score import ASSUMED, WEIGHTS

_HELPERS = (EntityKind.IOTHREAD, EntityKind.EMULATOR, EntityKind.VHOST)


def assumed_links(choices: Sequence[EntityChoice], graph: PairWeights) -> Floats:
    """Returns the communication within guests whose threads were not measured (T x T).

    It is what a guest's devices make its threads say to one another, scaled so that the busiest
    entity's weights add up to 1.
    """
    measured = {key for pair in graph for key in pair}
    found = np.zeros((len(choices), len(choices)))
    guests = dict.fromkeys(c.entity.guest for c in choices if c.entity.guest)
    for guest in guests:
        rows = [row for row, choice in enumerate(choices) if choice.entity.guest == guest]
        if not measured.intersection(key for row in rows for key in choices[row].entity.members):
            _within(found, [(row, choices[row].entity) for row in rows])
    return found / max(float(found.sum(axis=1).max(initial=0.0)), 1e-12)


def _within(found: Floats, mine: Sequence[tuple[int, Entity]]) -> None:
    cores = [(row, len(one.members)) for row, one in mine if one.kind is EntityKind.VCPU]
    vcpus = sum(count for _, count in cores)
    for kind, weight in (
        (EntityKind.IOTHREAD, ASSUMED.by_io),
        (EntityKind.VHOST, ASSUMED.by_network),
        (EntityKind.EMULATOR, ASSUMED.by_control),
    ):
        helpers = [row for row, one in mine if one.kind is kind]
        for helper in helpers:
            for row, count in cores:
                _add(found, row, helper, weight * count / len(helpers))
    for place, (row, count) in enumerate(cores):
        for other, others in cores[:place]:
            _add(found, row, other, ASSUMED.by_memory * count * others / max(1, vcpus - 1))


def device_links(choices: Sequence[EntityChoice], guests: Sequence[LibvirtGuest]) -> Floats:
    """Returns the weights between movable interrupts and those whose I/O they complete (T x T).

    An interrupt serves the guest to which its device was given, else the vhost threads of its
    device, or of no known one, and the storage server's threads. Weights are as if its CPU were
    given: use times the interrupt term's weight, divided among the device's interrupts by rate.
    """
    found = np.zeros((len(choices), len(choices)))
    owner = {name: guest.name for guest in guests for name in guest.devices}
    rates: dict[str, float] = {}
    lines = [(row, c.entity.line) for row, c in enumerate(choices) if c.entity.line]
    for _, line in lines:
        rates[line.device] = rates.get(line.device, 0.0) + (line.per_second or 1.0)
    for row, line in lines:
        share = (line.per_second or 1.0) / rates[line.device]
        guest = owner.get(line.device)
        for other, choice in enumerate(choices):
            factor = _serves(choice.entity, line.device, line.kind, guest)
            if factor:
                _add(found, row, other, WEIGHTS.interrupt * factor * choice.counted * share)
    return found


def _serves(entity: Entity, device: str, kind: DeviceKind, guest: str | None) -> float:
    """Returns how much an entity's nearness to an interrupt of this device counts, 0 to 1."""
    if guest is not None:
        return float(entity.kind is EntityKind.VCPU and entity.guest == guest)
    if kind is DeviceKind.NETWORK and entity.kind is EntityKind.VHOST:
        return float(entity.device in (None, device))
    if entity.kind is EntityKind.STORAGE:
        if kind is DeviceKind.STORAGE:
            return float(entity.device in (None, device))
        return 1.0 if entity.device == device else WEIGHTS.network
    return 0.0


def apart(choices: Sequence[EntityChoice]) -> Bools:
    """Tells which entities must not share a core (T x T): those of two teams, and two kept cores.

    Interrupts may fire on a core that is kept for the storage server.
    """
    team = np.array([choice.entity.team for choice in choices])
    kept = np.array([choice.entity.kind is EntityKind.RESERVE for choice in choices])
    line = np.array([choice.entity.kind is EntityKind.INTERRUPT for choice in choices])
    found = (team[:, None] != team[None, :]) | (kept[:, None] & kept[None, :])
    found &= ~(kept[:, None] & line[None, :]) & ~(line[:, None] & kept[None, :])
    np.fill_diagonal(found, val=False)
    return np.asarray(found)


def own(choices: Sequence[EntityChoice]) -> Bools:
    """Tells which entities must not share a CPU (T x T): an iothread has its own."""
    kinds = [choice.entity.kind for choice in choices]
    iothread = np.array([kind is EntityKind.IOTHREAD for kind in kinds])
    helper = np.array([kind in _HELPERS for kind in kinds])
    found = np.outer(iothread, helper) | np.outer(helper, iothread)
    np.fill_diagonal(found, val=False)
    return np.asarray(found)


def _add(found: Floats, one: int, other: int, weight: float) -> None:
    found[one, other] += weight
    found[other, one] += weight
