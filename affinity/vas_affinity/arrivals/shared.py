"""The plan in force, as the daemon's loop and the thread that places new threads share it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import RLock

from vas_affinity.arrivals.adopt import with_pins
from vas_affinity.arrivals.replanned import PlanBasis
from vas_affinity.placement import HostPlacement, Pin


@dataclass
class SharedPlan:
    """The plan in force with the pins of new threads; hold `lock` to read and change it.

    `basis` is what new threads are planned by, None without a planner or while moves are held off.
    `version` grows with each plan that the loop publishes.
    """

    lock: RLock = field(default_factory=RLock)
    plan: HostPlacement | None = None
    basis: PlanBasis | None = None
    version: int = 0
    wake: int = field(default_factory=lambda: os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK))
    _new: list[Pin] = field(default_factory=list)

    def publish(self, plan: HostPlacement | None, basis: PlanBasis | None) -> None:
        """Takes what the loop has put in force; wakes the other thread if that is another plan."""
        self.basis = basis
        if plan != self.plan or not self.version:
            self.plan = plan
            self.version += 1
            self.signal()

    def signal(self) -> None:
        """Wakes the thread that places new threads."""
        os.eventfd_write(self.wake, 1)

    def add(self, pins: Sequence[Pin]) -> None:
        """Adds the pins of new threads that were just applied."""
        assert self.plan is not None
        self.plan = with_pins(self.plan, pins)
        self._new.extend(pins)

    def take(self) -> list[Pin]:
        """Returns the pins that were added since the last call."""
        new, self._new = self._new, []
        return new
