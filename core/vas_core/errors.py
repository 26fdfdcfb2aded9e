"""The errors every room raises, and the exit status each ends with.

An error says what is wrong, where, and what to do about it: one line for the user,
`WHERE: WHAT; HINT`. The command-line frame (`vas_core.cli`) is the only place that
prints them and turns them into an exit status.
"""

from __future__ import annotations

from enum import IntEnum

from vas_core.shown import shown


class ExitStatus(IntEnum):
    """Exit statuses of every `vas` command."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    DIFFERENT = 3
    SKIPPED = 77


class VasError(Exception):
    """An operation failed. `where` is a path, key or host; `hint` is the fix."""

    exit_status = ExitStatus.FAILED

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.what = what
        self.where = where
        self.hint = hint
        super().__init__(what)

    def lines(self) -> list[str]:
        """Returns the lines that tell the user about it: one, or one per problem of a document."""
        return [str(self)]

    def __str__(self) -> str:
        text = f"{shown(self.where)}: {self.what}" if self.where else self.what
        return f"{text}; {self.hint}" if self.hint else text


class BadInput(VasError):
    """The user's file, option or argument is wrong. Nothing was changed."""

    exit_status = ExitStatus.BAD_INPUT


class FoundDifferent(VasError):
    """A verification ran and found a state other than the one planned."""

    exit_status = ExitStatus.DIFFERENT


class NotHere(VasError):
    """This machine lacks what the command needs (a kernel feature, a program)."""

    exit_status = ExitStatus.SKIPPED
