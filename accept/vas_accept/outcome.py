"""Defines a check of `vas accept` and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vas_accept.place import AcceptancePlace


class AcceptanceStatus(StrEnum):
    """Outcome of a check.

    NOT_APPLICABLE: the check could not be made here, and says why. NOT_FINISHED: the time for all
    checks was over before it had ended, or begun.
    """

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"
    NOT_FINISHED = "not finished"


class NotApplicable(Exception):
    """A check cannot be made on this mount, by this user or with these options; says why."""


class DeadlinePassed(Exception):
    """The time for all checks is over: a check could not begin, or not end."""

    def __init__(self) -> None:
        super().__init__("the time for all checks was over")


class Deviation(Exception):
    """Lustre, or VAS on it, answered otherwise than expected.

    `meaning` and `fix`, if given, take the place of the check's own.
    """

    def __init__(self, expected: str, seen: str, *, meaning: str = "", fix: str = "") -> None:
        self.expected, self.seen = expected, seen
        self.meaning, self.fix = meaning, fix
        super().__init__(f"expected {expected}, seen {seen}")


@dataclass(frozen=True)
class AcceptanceCheck:
    """A check. `run` returns a sentence on what it saw, or raises NotApplicable, DeadlinePassed or
    Deviation.

    `meaning` is what a failure means for the site, `fix` what to do about it.
    """

    name: str
    title: str
    run: Callable[[AcceptancePlace], str]
    meaning: str
    fix: str


@dataclass(frozen=True, kw_only=True)
class AcceptanceResult:
    """The outcome of one check, made as `user`. `seen` is what the check saw, or why it was not
    made; `seconds` is how long it took."""

    check: str
    title: str
    user: str
    status: AcceptanceStatus
    seen: str
    expected: str = ""
    meaning: str = ""
    fix: str = ""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Returns the result as `vas accept --json` prints it."""
        return asdict(self)

    def lines(self) -> tuple[str, ...]:
        """Returns the lines that a reader of the report gets for this check."""
        if self.status is not AcceptanceStatus.FAILED:
            return (self.seen,)
        said = (("Expected", self.expected), ("Seen", self.seen), ("Means", self.meaning))
        return tuple(f"{name}: {text}" for name, text in (*said, ("Do", self.fix)) if text)
