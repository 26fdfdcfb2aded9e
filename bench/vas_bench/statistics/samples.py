"""Reads samples by arm from a CSV table, or from a file of results as `vas bench run` writes it.

A table has columns `arm,value[,round]`, or a column for each arm; in a file an arm is a system.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from vas_bench.csvfile import CsvTable
from vas_bench.results.groups import grouped
from vas_bench.results.measures import primary_of
from vas_bench.results.record import BenchRun
from vas_bench.results.store import read_results
from vas_core.errors import BadInput

_ARM, _VALUE, _ROUND = "arm", "value", "round"
_ONE = "`vas bench report` compares each on its own"


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


def is_results(file: Path) -> bool:
    """Tells whether a file holds runs, a JSON object a line, or is a report that carries them.

    Raises OSError where it cannot be read.
    """
    if str(file) == "-" or not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(1) in (b"{", b"<")


def samples_of_runs(
    runs: Iterable[BenchRun], where: str, *, measure: str | None = None, paired: bool = False
) -> dict[str, list[float]]:
    """Returns each system's values of a measure, without warm-ups and INVALID runs.

    The measure is by default the one that the workload is compared by. If paired, values are in
    the order of rounds, of those that every system ran. Raises BadInput unless all runs are of one
    workload with one set of parameters, and of two systems or more.
    """
    found = list(runs)
    groups = grouped(found)
    cases = {group.case for group in groups}
    if len(cases) > 1:
        names = ", ".join(sorted({case.workload for case in cases}))
        raise BadInput(f"holds {len(cases)} experiments ({names})", where=where, hint=_ONE)
    if len(groups) < 2 or len({group.system for group in groups}) < len(groups):
        what = "holds one system" if len(groups) < 2 else "holds several settings of one system"
        raise BadInput(what, where=where, hint=_ONE)
    (case,) = cases
    name = measure or primary_of(case.workload)
    rounds = set.intersection(*({run.round for run in group.runs} for group in groups))
    samples: dict[str, list[float]] = {
        group.system: [
            run.measures[name]
            for run in sorted(group.runs, key=lambda run: run.round or 0)
            if name in run.measures and (not paired or run.round in rounds)
        ]
        for group in groups
    }
    empty = next((system for system, values in samples.items() if not values), None)
    if empty:
        raise BadInput(f"{empty} has no {name}", where=where, hint="give another --measure")
    return samples


def read_samples(file: Path, *, measure: str | None, paired: bool) -> dict[str, list[float]]:
    """Reads a file of results and returns its samples. Raises BadInput as `samples_of_runs`."""
    runs = read_results(file, say=lambda _: None)
    return samples_of_runs(runs, str(file), measure=measure, paired=paired)
