"""Plans a host's guests together with its storage server's threads and interrupts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from vas_affinity.entities import EntityKind, HostProblem
from vas_affinity.guest_plan.plan import (
    AssignedGuests,
    PlanSite,
    assign_at,
    assign_guests,
    placement_of,
    site_of,
)
from vas_affinity.guest_plan.request import GuestRequest
from vas_affinity.guest_plan.settings import GuestPlanSettings
from vas_affinity.joint.earlier import assigned_of
from vas_affinity.joint.placement import in_order, joint_placement
from vas_affinity.joint.problem import JointInput, joint_problem
from vas_affinity.machine.distance import Distances, ratio_distances
from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.placement import HostPlacement
from vas_affinity.search import Effort, find
from vas_affinity.search.score import score
from vas_core.errors import BadInput

_MOST_HOMES = 32
_FEW = 100  # entities, up to which a guest's node is chosen by all of them
_QUICK = 3000
"""Perturbations times entities of the search by which a node is chosen."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A problem with a placement of its entities."""

    problem: HostProblem
    places: Ints

    @property
    def score(self) -> float:
        """Returns the score of the placement."""
        return score(self.problem.arrays, self.places)


@dataclass(frozen=True, eq=False)
class JointPlan:
    """The joint plan of a host, and what the rule makes of it.

    Both problems have the same entities; a guest's memory may be on another node in each. `rule` is
    None for an earlier plan, if the rule places other entities now.
    """

    rule: Solution | None
    planned: Solution
    placement: HostPlacement
    rule_placement: HostPlacement | None = None


@dataclass(frozen=True)
class _Start:
    """Guests with cores by the rule, from which a search starts."""

    assigned: AssignedGuests
    placement: HostPlacement
    solution: Solution


def plan_host(
    snapshot: Snapshot,
    requests: Sequence[GuestRequest],
    settings: GuestPlanSettings | None = None,
    known: JointInput | None = None,
) -> JointPlan:
    """Plans a CPU for each virtual core, helper, busy service thread and movable interrupt.

    The search starts from the plan of the rule and never ends above its score. The same input gives
    the same plan, unless the budget ended the search, which the notes say. Raises BadInput, which
    says what would fit, if the guests leave the storage server and its host too few cores.
    """
    known = known or JointInput()
    site = site_of(snapshot, settings or GuestPlanSettings())
    distances = known.distances or ratio_distances(snapshot.topology)
    rule = _start(site, assign_guests(site, requests), distances, known)
    effort = Effort(seed=known.seed, budget_seconds=known.budget_seconds)
    best = _best_homes(site, rule, distances, known)
    found = find(best.solution.problem.arrays, best.solution.places, effort)
    if best is not rule:
        here = find(rule.solution.problem.arrays, rule.solution.places, effort)
        best, found = (rule, here) if here.score <= found.score else (best, found)
    planned = Solution(best.solution.problem, in_order(best.solution.problem, found.places))
    placement = joint_placement(site, best.assigned, planned.problem, planned.places)
    notes = [*planned.problem.notes, f"the rule alone has the score {rule.solution.score:.2f}"]
    if found.cut:
        notes.append("the budget ended the search: another run may find another plan")
    said = {"score": planned.score, "notes": (*placement.notes, *notes)}
    made = placement.model_copy(update=said)
    return JointPlan(rule.solution, planned, made, rule.placement)


def _start(
    site: PlanSite,
    assigned: AssignedGuests,
    distances: Distances,
    known: JointInput,
    placement: HostPlacement | None = None,
) -> _Start:
    placement = placement or placement_of(site, assigned)
    problem, places = joint_problem(site, assigned, placement, distances, known.graph)
    return _Start(assigned, placement, Solution(problem, places))


def _best_homes(site: PlanSite, rule: _Start, distances: Distances, known: JointInput) -> _Start:
    """Returns the best start: each guest on its node by the rule, or on another that holds it.

    A guest moves between nodes only as a whole, with its memory. One guest after another tries
    every node; a start is as good as a short search from it.
    """
    nodes = sorted({node.number for node in site.snapshot.topology.nodes})
    best, lowest, tries = rule, float("inf"), _MOST_HOMES
    guests = list(_nodes(rule))
    for guest, node in product(guests * min(2, len(guests)), nodes):
        homes = _nodes(best)
        if homes[guest] == node or tries == 0:
            continue
        tries -= 1
        start = _start_at(site, best.assigned, homes | {guest: node}, distances, known)
        if start is None or len(start.solution.places) != len(rule.solution.places):
            continue
        lowest = _quick(best) if lowest == float("inf") else lowest
        if (found := _quick(start)) < lowest:
            best, lowest = start, found
    return best


def _nodes(start: _Start) -> dict[str, int]:
    """Returns the node of each guest that is on one."""
    return {g.request.name: g.nodes[0] for g in start.assigned.guests if len(g.nodes) == 1}


def _start_at(
    site: PlanSite,
    assigned: AssignedGuests,
    homes: dict[str, int],
    distances: Distances,
    known: JointInput,
) -> _Start | None:
    there = assign_at(site, assigned, homes)
    try:
        return None if there is None else _start(site, there, distances, known)
    except BadInput:  # the other guests' memory does not fit on what is left
        return None


def host_plan_of(
    placement: HostPlacement,
    snapshot: Snapshot,
    settings: GuestPlanSettings | None = None,
    known: JointInput | None = None,
) -> JointPlan:
    """Returns an earlier plan of guests with the problem that it solves on this snapshot.

    Raises BadInput if it has CPUs that are not online here.
    """
    known = known or JointInput()
    site = site_of(snapshot, settings or GuestPlanSettings())
    distances = known.distances or ratio_distances(snapshot.topology)
    assigned = assigned_of(site, placement)
    given = _start(site, assigned, distances, known, placement).solution
    requests = [guest.request for guest in assigned.guests]
    try:
        rule = _start(site, assign_guests(site, requests), distances, known)
    except BadInput:
        return JointPlan(None, given, placement)
    keys = rule.solution.problem.arrays.threads
    if keys != given.problem.arrays.threads:
        return JointPlan(None, given, placement)
    return JointPlan(rule.solution, given, placement, rule.placement)


def every_home(
    snapshot: Snapshot,
    requests: Sequence[GuestRequest],
    settings: GuestPlanSettings | None = None,
    known: JointInput | None = None,
) -> Iterator[Solution]:
    """Yields the rule's plan at each choice of the guests' nodes: the problems that a plan solves.

    The first is the rule's own choice. Choices for which the rule finds no cores are left out.
    """
    known = known or JointInput()
    site = site_of(snapshot, settings or GuestPlanSettings())
    distances = known.distances or ratio_distances(snapshot.topology)
    rule = _start(site, assign_guests(site, requests), distances, known)
    yield rule.solution
    mine = _nodes(rule)
    for nodes in product((node.number for node in snapshot.topology.nodes), repeat=len(mine)):
        homes = dict(zip(mine, nodes, strict=True))
        start = _start_at(site, rule.assigned, homes, distances, known) if homes != mine else None
        if start and len(start.solution.places) == len(rule.solution.places):
            yield start.solution


def _quick(start: _Start) -> float:
    """Returns the score by a short search; of many entities, without the service's threads."""
    problem, places = start.solution.problem, start.solution.places
    if len(places) <= _FEW:
        quick = Effort(perturbations=_QUICK // len(places), branches=0)
        return find(problem.arrays, places, quick).score
    kinds = [entity.kind for entity in problem.entities]
    rows = np.flatnonzero([kind is not EntityKind.STORAGE for kind in kinds])
    quick = Effort(perturbations=0, branches=0)
    return find(problem.arrays.only(rows), places[rows], quick).score
