"""Defines a finding of `vas route doctor`: one thing that was examined."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RouteFinding:
    """One thing that was examined. `ok` is None for a thing that could not be read.

    `what` names what is there and its effect; a bad finding has the `fix`: commands, or a file's
    name and text, one per line.
    """

    check: str
    ok: bool | None
    what: str
    where: str
    fix: str = ""

    def as_json(self) -> dict[str, object]:
        """Returns the finding as `vas route doctor --json` prints it."""
        return dict(vars(self))


def good(check: str, where: str, what: str) -> RouteFinding:
    """Returns a finding that needs no action."""
    return RouteFinding(check=check, ok=True, what=what, where=where)


def bad(check: str, where: str, what: str, fix: str) -> RouteFinding:
    """Returns a finding with something to fix."""
    return RouteFinding(check=check, ok=False, what=what, where=where, fix=fix)


def unknown(check: str, where: str, what: str, look: str) -> RouteFinding:
    """Returns a finding on a thing that could not be read; `look` is the command that shows it."""
    return RouteFinding(check=check, ok=None, what=what, where=where, fix=look)
