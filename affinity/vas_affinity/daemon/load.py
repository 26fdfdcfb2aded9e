"""Measures how busy the CPUs are between two readings of `/proc/stat`."""

from __future__ import annotations

from dataclasses import dataclass, field

from vas_core.root import Root

_IDLE = (3, 4)  # idle and iowait, of proc_stat(5)
_COUNTED = 8  # the fields after these, guest time, are in user time already


@dataclass
class Load:
    """The share of all CPUs' time in use between two calls of `busy`."""

    root: Root
    _last: tuple[int, int] | None = field(default=None, init=False)

    def busy(self) -> float:
        """Returns the share since the last call, from 0 to 1; 1 at the first call."""
        last, self._last = self._last, self._times()
        if last is None or self._last is None:
            return 1.0
        idle, total = (new - old for new, old in zip(self._last, last, strict=True))
        return min(1.0, max(0.0, 1 - idle / total)) if total > 0 else 1.0

    def _times(self) -> tuple[int, int] | None:
        """Returns idle and total ticks; None if /proc/stat cannot be parsed."""
        line = (self.root.read("proc/stat") or "").partition("\n")[0].split()
        if not line or line[0] != "cpu":
            return None
        ticks = [int(word) for word in line[1 : 1 + _COUNTED]]
        return sum(ticks[index] for index in _IDLE), sum(ticks)
