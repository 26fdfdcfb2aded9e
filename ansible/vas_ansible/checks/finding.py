"""One thing that is wrong: where, what, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A check that failed on a machine, or in the inventory."""

    where: str
    check: str
    what: str
    fix: str
    warns: bool = False
    """Whether it is only said: nothing stops for it."""

    def line(self) -> str:
        """`WHERE: CHECK: WHAT; FIX`."""
        return f"{self.where}: {self.check}: {self.what}; {self.fix}"
