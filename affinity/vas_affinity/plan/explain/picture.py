"""Collects the picture of a joint plan: the rule's plan above the planned one. Pure."""

from __future__ import annotations

import numpy as np

from vas_affinity.entities import EntityKind
from vas_affinity.joint import JointPlan, Solution
from vas_affinity.pictures.cells import host_map
from vas_affinity.pictures.links_svg import CostLink, LinkedMap
from vas_affinity.placement import HostPlacement

_LEAST = 0.02  # of the costliest link; thinner ones would hide the others


def linked_maps(plan: JointPlan) -> list[LinkedMap]:
    """Returns the maps to draw: by the rule, if it is known, and as planned."""
    found = []
    if plan.rule is not None and plan.rule_placement is not None:
        found.append(_map("by the rule", plan.rule, plan.rule_placement))
    return [*found, _map("planned jointly", plan.planned, plan.placement)]


def _map(name: str, solution: Solution, placement: HostPlacement) -> LinkedMap:
    snapshot = solution.problem.snapshot
    title = f"{placement.host}, {name}: score {solution.score:.2f}"
    return LinkedMap(title, host_map(snapshot, placement), links_of(solution))


def links_of(solution: Solution) -> tuple[CostLink, ...]:
    """Returns what pairs of entities, and entities and their interrupts, pay; the largest of it."""
    problem, places = solution.problem, solution.places
    arrays = problem.arrays
    cpus = [arrays.cpus[place] for place in places.tolist()]
    costs = np.triu(arrays.weighted * arrays.distance[np.ix_(places, places)], 1)
    links = [
        CostLink(cpus[one], cpus[other], float(costs[one, other]))
        for one, other in zip(*np.nonzero(costs), strict=True)
    ]
    for row, entity in enumerate(problem.entities):
        cost = float(arrays.weights.interrupt * arrays.interrupt[row, places[row]])
        where = problem.firing
        near = where.disk_cpus(entity) or where.network_cpus
        if cost and near and entity.kind is not EntityKind.RESERVE:
            at = places[row]
            nearest = min(near, key=lambda cpu: arrays.distance[at, arrays.cpus.index(cpu)])
            links.append(CostLink(cpus[row], nearest, cost, to_interrupt=True))
    most = max((link.cost for link in links), default=0.0)
    return tuple(link for link in links if link.cost >= _LEAST * most)
