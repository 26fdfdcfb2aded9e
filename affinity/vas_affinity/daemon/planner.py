"""Offers plans: the one of a user's file, then those of a planner that looks at the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from vas_affinity.daemon.decide import DaemonState, Offer
from vas_affinity.placement import HostPlacement

Replan = Callable[[HostPlacement | None], Offer | None]
"""Plan in force -> a plan that may be better; None for nothing to move. Raises VasError."""


@dataclass
class Planner:
    """Offers the file's plan until it was applied, then what `replan` finds at intervals."""

    asked: HostPlacement
    replan: Replan | None = None
    every_seconds: float = 60.0
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
            self._last = self.replan(state.in_force)
        return self._last
