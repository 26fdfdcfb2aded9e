"""Limits the CPU time of a thread of this process, however many threads others start."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

_RESUME_SHARE = 0.05
_MARGIN_SECONDS = 0.1
"""Earns what asking costs: else the end of the pause would be approached without end."""


@dataclass
class CpuBudget:
    """A share of a CPU, with a reserve of `burst_seconds` for work that comes at once.

    `used` gives the seconds of CPU time that the calling thread has used so far.
    """

    share: float
    burst_seconds: float
    now: Callable[[], float] = time.monotonic
    used: Callable[[], float] = time.thread_time
    _left: float = field(init=False)
    _at: tuple[float, float] = field(init=False)
    _spent: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._left = self.burst_seconds
        self._at = self.now(), self.used()

    def is_spent(self) -> bool:
        """Tells whether the reserve is used up; from then on until a 20th of it is back."""
        now, used = self.now(), self.used()
        earned = self.share * (now - self._at[0])
        self._left = min(self.burst_seconds, self._left + earned - (used - self._at[1]))
        self._at = now, used
        self._spent = self._left < (self._resumes_at if self._spent else 0.0)
        return self._spent

    def wait_seconds(self) -> float:
        """Returns how long to be idle until the budget, once spent, is not any more."""
        return max(0.0, self._resumes_at - self._left) / self.share + _MARGIN_SECONDS

    @property
    def _resumes_at(self) -> float:
        return _RESUME_SHARE * self.burst_seconds
