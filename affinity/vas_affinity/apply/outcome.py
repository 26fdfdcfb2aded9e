"""What became of each value of a plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from vas_affinity.apply.knob import Value
from vas_core.errors import ExitStatus


class Verdict(StrEnum):
    """How a value is, or what was done to it."""

    AS_WISHED = "as wished"
    CHANGED = "changed"
    RESTORED = "restored"
    DIFFERENT = "different"
    """It has another value; after a change, the kernel did not keep the one it was given."""
    TO_RESTORE = "to restore"
    IMMOVABLE = "immovable"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One value: what it was, what it was to be, what it is. None is no pin, or not read."""

    what: str
    wanted: Value
    verdict: Verdict
    before: Value = None
    now: Value = None
    why: str = ""
    key: str = ""

    def as_json(self) -> dict[str, object]:
        """As the commands print it."""
        return {**vars(self), "verdict": self.verdict.value}


def status_of(outcomes: Iterable[Outcome]) -> ExitStatus:
    """A command's exit status: what is immovable or skipped is in the report, and no failure."""
    verdicts = {outcome.verdict for outcome in outcomes}
    if Verdict.FAILED in verdicts:
        return ExitStatus.FAILED
    return ExitStatus.DIFFERENT if Verdict.DIFFERENT in verdicts else ExitStatus.DONE
