"""What the doctor says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RouteFinding:
    """One thing that was looked at. `ok` is None for what could not be read.

    `what` says what is there and what it does; a bad finding has the `fix`: commands, or a file's
    name and text, one a line.
    """

    check: str
    ok: bool | None
    what: str
    where: str
    fix: str = ""

    def as_json(self) -> dict[str, object]:
        """The finding as `vas route doctor --json` prints it."""
        return dict(vars(self))


def good(check: str, where: str, what: str) -> RouteFinding:
    """Nothing to do."""
    return RouteFinding(check=check, ok=True, what=what, where=where)


def bad(check: str, where: str, what: str, fix: str) -> RouteFinding:
    """Something to fix."""
    return RouteFinding(check=check, ok=False, what=what, where=where, fix=fix)


def unknown(check: str, where: str, what: str, look: str) -> RouteFinding:
    """It could not be read; `look` is the command that shows it."""
    return RouteFinding(check=check, ok=None, what=what, where=where, fix=look)
