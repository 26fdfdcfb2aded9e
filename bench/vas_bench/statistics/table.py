"""Samples by arm, from a CSV table: `arm,value[,round]`, or a column for each arm."""

from __future__ import annotations

from collections.abc import Mapping

from vas_bench.csvfile import CsvTable
from vas_core.errors import BadInput

_ARM, _VALUE, _ROUND = "arm", "value", "round"


def samples_of(table: CsvTable, *, paired: bool = False) -> dict[str, list[float]]:
    """Reads each arm's values: arms in the table's order, values in that of rounds if paired.

    With a column for each arm a line is a round, and a cell may be empty, but not if paired.
    Raises BadInput with the line.
    """
    read = _long if {_ARM, _VALUE} <= set(table.columns) else _wide
    found = read(table, paired)
    if len(found) < 2:
        hint = "columns arm,value, or a column of values for each arm"
        raise BadInput("holds one arm", where=table.name, hint=hint)
    empty = [arm for arm, values in found.items() if not values]
    if empty:
        raise BadInput("has no values", where=f"{table.name}: {empty[0]}", hint="drop the column")
    return found


def _wide(table: CsvTable, paired: bool) -> dict[str, list[float]]:
    return {
        arm: [row.number(arm) for row in table.rows if paired or row.cells[arm]]
        for arm in table.columns
    }


def _long(table: CsvTable, paired: bool) -> dict[str, list[float]]:
    if paired and _ROUND not in table.columns:
        raise BadInput("has no column round", where=table.name, hint="runs are paired by it")
    found: dict[str, dict[str, float]] = {}
    for row in table.rows:
        runs = found.setdefault(row.text(_ARM), {})
        key = row.text(_ROUND) if paired else row.where
        if key in runs:
            text = f"round {key} of {row.text(_ARM)} stands twice"
            raise BadInput(text, where=row.where, hint="a round has one run of each arm")
        runs[key] = row.number(_VALUE)
    rounds = list(next(iter(found.values())))
    if paired:
        _check_rounds(table, found)
        return {arm: [runs[key] for key in rounds] for arm, runs in found.items()}
    return {arm: list(runs.values()) for arm, runs in found.items()}


def _check_rounds(table: CsvTable, found: Mapping[str, Mapping[str, float]]) -> None:
    everywhere = {key for runs in found.values() for key in runs}
    for arm, runs in found.items():
        missing = sorted(everywhere - runs.keys())
        if missing:
            text = f"{arm} has no round {', '.join(missing)}"
            raise BadInput(text, where=table.name, hint="drop the round, or leave out --paired")
