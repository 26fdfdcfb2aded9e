"""Offers plans: the one of a user's file, then those of a planner that looks at the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from vas_affinity.arrivals.adopt import with_pins
from vas_affinity.arrivals.replanned import PlanBasis
from vas_affinity.daemon.decide import DaemonState, Offer
from vas_affinity.placement import HostPlacement, Pin


@dataclass(frozen=True)
class Replanned:
    """The scores, and perhaps the better plan, that one run of the planner found.

    `offer` is a plan that may be better, None for nothing to move. `now` and `best` are the scores
    of the threads where they are and where the plan would have them, `forbidden` the number of
    threads on a CPU that the plan's rules forbid them.
    """

    offer: Offer | None
    basis: PlanBasis | None
    """The plan's basis, by which new threads are placed; None if it has no threads of processes."""
    now: float
    best: float
    forbidden: int = 0


Replan = Callable[[HostPlacement | None], Replanned]
"""Plan in force -> what the planner found. Raises VasError."""


@dataclass
class Planner:
    """Offers the file's plan until it was applied, then what `replan` finds at intervals."""

    asked: HostPlacement
    replan: Replan | None = None
    every_seconds: float = 60.0
    found: Replanned | None = None
    """The plan and scores that `replan` found last."""
    _last: Offer | None = field(default=None, init=False)
    _next: float = field(default=float("-inf"), init=False)

    def offer(self, state: DaemonState, now: float) -> Offer | None:
        """Returns a plan that could be applied; None if there is none.

        Raises VasError if the planner fails.
        """
        if state.asked != self.asked:
            return Offer(self.asked)
        if self.replan is not None and now >= self._next:
            self._next = now + self.every_seconds
            self.found = self.replan(state.in_force)
            self._last = self.found.offer
        return self._last

    def adopt(self, pins: Sequence[Pin]) -> Offer | None:
        """Adds the pins of new threads to the last plan on offer, and returns that.

        Pins of threads or of keys that it has already are left out.
        """
        if self._last is None:
            return None
        plan = self._last.plan
        names = {pin.name for pin in plan.pins}
        threads = {(pin.tid, pin.start) for pin in plan.pins}
        new = [p for p in pins if p.name not in names and (p.tid, p.start) not in threads]
        self._last = replace(self._last, plan=with_pins(plan, new))
        return self._last
