"""Plans the host's threads or guests again, and computes what the new plan gains and costs."""

from __future__ import annotations

import math

import numpy as np

from vas_affinity.arrivals.replanned import PlanBasis
from vas_affinity.daemon.decide import Offer
from vas_affinity.daemon.planner import Replan, Replanned
from vas_affinity.joint import PlannedAgain, plan_again
from vas_affinity.machine.reading import SnapshotRequest
from vas_affinity.placement import HostPlacement, PinTarget
from vas_affinity.plan.options import ThreadOptions, joint_input, threads_planned
from vas_affinity.search.score import score
from vas_affinity.threads import ThreadPlan
from vas_core.errors import BadInput


def replanner(options: ThreadOptions, asked: SnapshotRequest, move_cost: float) -> Replan:
    """Returns a function that plans the requested threads of this host."""

    def replan(in_force: HostPlacement | None) -> Replanned:
        planned = threads_planned(None, options, asked)
        snapshot = planned.plan.problem.snapshot
        basis = PlanBasis(snapshot, planned.known, planned.settings, planned.between)
        return found_of(planned.plan, in_force, move_cost, basis)

    return replan


def guest_replanner(options: ThreadOptions, asked: SnapshotRequest, move_cost: float) -> Replan:
    """Returns a function that plans the guests of the plan in force as they are at work now."""

    def replan(in_force: HostPlacement | None) -> Replanned:
        if in_force is None or not in_force.shapes:
            raise BadInput("has no guests", where="the plan in force", hint="plan with --cluster")
        snapshot, known = joint_input(None, options, asked)
        return guests_found(plan_again(in_force, snapshot, known), move_cost)

    return replan


def guests_found(found: PlannedAgain, move_cost: float) -> Replanned:
    """Returns the offer, None if nothing moves, with the scores of both plans."""
    before, after = found.before.score, found.after.score
    offer = None
    if found.moved:
        offer = Offer(found.placement, gain=before - after, cost=move_cost * before * found.moved)
    return Replanned(offer, None, now=before, best=after)


def found_of(
    planned: ThreadPlan, in_force: HostPlacement | None, move_cost: float, basis: PlanBasis
) -> Replanned:
    """Returns a plan with the scores of today and of the plan."""
    arrays, start = planned.problem.arrays, planned.problem.start
    there = np.flatnonzero(start >= 0)
    return Replanned(
        offer_of(planned, in_force, move_cost),
        basis,
        now=score(arrays, start),
        best=score(arrays, planned.places),
        forbidden=int(arrays.forbidden[there, start[there]].sum()),
    )


def offer_of(planned: ThreadPlan, in_force: HostPlacement | None, move_cost: float) -> Offer | None:
    """Returns the planned threads together with the pins in force of guests, interrupts, cgroups.

    None if no thread would move. The gain is how much lower the score gets. The cost is the share
    `move_cost` of today's score if all threads move, and less if fewer do: caches are cold after a
    move, and memory may be far.
    """
    problem, start = planned.problem, planned.problem.start
    moved = float((start != planned.places).mean()) if len(start) else 0.0
    if not moved:
        return None
    today, then = score(problem.arrays, start), score(problem.arrays, planned.places)
    kept = () if in_force is None else in_force.pins
    others = tuple(pin for pin in kept if pin.target is not PinTarget.THREAD)
    base = planned.placement if in_force is None else in_force
    plan = base.model_copy(
        update={
            "pins": (*others, *planned.placement.pins),
            "score": planned.placement.score,
            "notes": planned.placement.notes,
        }
    )
    cost = move_cost * today * moved if math.isfinite(today) else 0.0
    return Offer(plan, gain=today - then, cost=cost)
