"""Prints rows that were measured against goals."""

from __future__ import annotations

from collections.abc import Sequence

from vas_bench.shuffle.goals import COLUMNS, GoalRow
from vas_core.cli import note, print_json
from vas_core.errors import VasError
from vas_core.table import print_table


def print_rows(found: Sequence[GoalRow], *, as_json: bool) -> None:
    """Prints rows as a table, with the reasons of those that are invalid, or as JSON."""
    if as_json:
        print_json({"rows": [row.as_json() for row in found]})
        return
    print_table(COLUMNS, (row.as_cells() for row in found))
    for row in found:
        if row.invalid:
            note(f"invalid: {row.name}: {row.invalid}")


def refuse_invalid_rows(found: Sequence[GoalRow]) -> None:
    """Raises VasError where a row is invalid, with the reason of the first one."""
    invalid = [row for row in found if row.invalid]
    if invalid:
        raise VasError(
            f"{len(invalid)} rows are invalid", where=invalid[0].name, hint=invalid[0].invalid
        )
