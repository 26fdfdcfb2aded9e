"""Where plans come from: a file, which a user wrote, or a planner that looks at the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from vas_affinity.daemon.decide import Offer, State
from vas_affinity.placement import Placement

Replan = Callable[[Placement | None], Offer | None]
"""Looks at the host; given the plan in force, a plan that may be better. Raises VasError."""


@dataclass
class Planner:
    """Offers the file's plan until it was taken, then what `replan` finds every so often."""

    asked: Placement
    replan: Replan | None = None
    every_seconds: float = 60.0
    _last: Offer | None = field(default=None, init=False)
    _next: float = field(default=float("-inf"), init=False)

    def offer(self, state: State, now: float) -> Offer | None:
        """What could be made true. Raises VasError of the planner."""
        if state.asked != self.asked:
            return Offer(self.asked)
        if self.replan is not None and now >= self._next:
            self._next = now + self.every_seconds
            self._last = self.replan(state.in_force)
        return self._last
