"""Defines a finding of a check: where, what, and the fix."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckFinding:
    """A check that failed on a machine, or in the inventory."""

    where: str
    check: str
    what: str
    fix: str
    warns: bool = False
    """Whether it is only said: nothing stops for it."""

    def line(self) -> str:
        """Returns the finding as one line, `WHERE: CHECK: WHAT; FIX`."""
        return f"{self.where}: {self.check}: {self.what}; {self.fix}"
