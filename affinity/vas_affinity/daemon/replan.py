"""The planner that looks at the host's threads, and what its plan would gain and cost."""

from __future__ import annotations

import math

from vas_affinity.daemon.decide import Offer
from vas_affinity.daemon.planner import Replan
from vas_affinity.placement import Placement, Target
from vas_affinity.plan.options import ThreadOptions, threads_planned
from vas_affinity.reading import Asked
from vas_affinity.score import score
from vas_affinity.thread_plan import ThreadPlan


def replanner(options: ThreadOptions, asked: Asked, move_cost: float) -> Replan:
    """Plans the threads of this host that are asked for."""

    def replan(in_force: Placement | None) -> Offer | None:
        return offer_of(threads_planned(None, options, asked).plan, in_force, move_cost)

    return replan


def offer_of(planned: ThreadPlan, in_force: Placement | None, move_cost: float) -> Offer | None:
    """The plan beside what is in force for guests, interrupts and cgroups; None moves nothing.

    The gain is how much lower the score gets. The cost is `move_cost` of today's score if all
    threads move, less where fewer do: caches are cold after a move, and memory may be far.
    """
    posed, start = planned.posed, planned.posed.start
    moved = float((start != planned.places).mean()) if len(start) else 0.0
    if not moved:
        return None
    today, then = score(posed.problem, start), score(posed.problem, planned.places)
    kept = () if in_force is None else in_force.pins
    others = tuple(pin for pin in kept if pin.target is not Target.THREAD)
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
