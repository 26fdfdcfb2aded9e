"""Prints the results of `vas guest` as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from vas_core.cli import note
from vas_core.table import print_table
from vas_guest.compare import GuestDifference
from vas_guest.trust import Untrue, waiting
from vas_guest.vfs import SysfsWrite

_SHOWN_CHARS = 60


def print_differences(found: Sequence[GuestDifference]) -> None:
    """Prints a row for each difference; long values are cut."""
    rows = ((one.where, _shown(one.wished), _shown(one.found)) for one in found)
    print_table(("WHAT", "DESIRED", "FOUND"), rows)


def print_functions(pf: str, writes: Sequence[SysfsWrite], trust: Untrue) -> None:
    """Prints what changed at the virtual functions of a PF, or that nothing had to.

    A note on stderr lists the VFs in use, whose trust can change only after their guests end.
    """
    rows = [(write.file, write.value, write.why) for write in writes]
    why = "as `trust` of the settings says"
    rows += [(f"trust of virtual function {number}", "changed", why) for number in trust.free]
    if rows:
        print_table(("WHAT", "VALUE", "WHY"), rows)
    else:
        note(f"{pf} has enough virtual functions for its guests")
    if later := waiting(trust):
        note(later)


def _shown(value: str | None) -> str:
    if value is None:
        return "-"
    line = value.replace("\n", " ")
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 3] + "..."
