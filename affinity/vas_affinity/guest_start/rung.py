"""The rungs of the ladder of fallbacks at a guest's start."""

from __future__ import annotations

from enum import StrEnum


class StartRung(StrEnum):
    """A rung of the ladder, from the best down; or `LATE`, which the hook's script counts."""

    IN_FORCE = "in-force"
    """The plan that vas-affinityd keeps applied, with what it has changed since."""
    PLAN = "plan"
    """The plan of the administrator, in a file."""
    LAST_GOOD = "last-good"
    """The last plan that vas-affinityd could use, which outlives a reboot."""
    RULE = "rule"
    """A plan by the rule, made now, on cores that no other guest's vCPUs are pinned to."""
    CPUSET = "cpuset"
    """All CPUs but those of the storage interrupts' cores."""
    NOTHING = "nothing"
    """No thread was placed."""
    LATE = "late"
    """The time was up before a rung was found."""
