"""Writes the tables of docs/evidence/alltoallv.md from the files of results.

python -m vas_a2av.tables              writes the tables into the page
python -m vas_a2av.tables --measure    runs the commands first that have no result yet
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import click

from vas_a2av.grid_points import GridPoint
from vas_a2av.results import (
    GRID_OF_NODES,
    LARGE_SIZES,
    MANY,
    SIZES,
    BenchResult,
    grid_points,
    load,
    measure,
)
from vas_core.files import write_atomically
from vas_core.repository import REPOSITORY
from vas_core.sizes import format_size

PAGE = REPOSITORY / "docs" / "evidence" / "alltoallv.md"
_BLOCK = re.compile(r"(<!-- table (?P<name>[a-z0-9-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_WORST = 1.05  # the goal for the library's choice by MPI's own
# Size -> the least part by which SLOAV2 must be faster.
_GOALS_OF_TUNA = {8: 0.25, 64: 0.25, 256: 0.10, 1024: 0.10} | dict.fromkeys(LARGE_SIZES, -0.05)
_GOALS_OF_TWO_PHASE = {8: 0.40, 64: 0.20}


def page_with_tables(text: str) -> str:
    """Returns the page with each table replaced by that of the results.

    Raises KeyError for a table that is not known, BadInput for a damaged file of results.
    """
    return _BLOCK.sub(lambda m: f"{m[1]}\n{_TABLES[m['name']]()}\n{m[3]}", text)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _us(cost: BenchResult) -> str:
    return f"{cost.seconds * 1e6:,.1f}"


def _gain(ours: BenchResult, theirs: BenchResult) -> str:
    return f"{100 * (ours.seconds / theirs.seconds - 1):.0f} %"


def _met(ours: BenchResult, theirs: BenchResult, goal: float | None) -> str:
    if goal is None:
        return ""
    met = ours.seconds <= theirs.seconds * (1 - goal)
    return f"{-100 * goal:+.0f} %: {'met' if met else '**missed**'}"


def _found(results: Sequence[BenchResult], ranks: int, size: int, *names: str) -> list[BenchResult]:
    """Returns the results of these algorithms, the fastest first."""
    found = [each for each in results if (each.ranks, each.size) == (ranks, size)]
    return sorted(
        (each for each in found if each.algorithm in names), key=lambda each: each.seconds
    )


def two_phase_table() -> str:
    """Returns the table of SLOAV2, with radix 2 and 8, against two-phase, by ranks and size."""
    results, rows = load(), []
    for ranks in sorted({each.ranks for each in results} - {MANY}):
        for size in SIZES:
            theirs = _found(results, ranks, size, "two-phase")
            ours = {each.radix: each for each in _found(results, ranks, size, "sloav2")}
            if not theirs or 2 not in ours:
                continue
            cells = [f"{ranks:,}", f"{size:,}", _us(theirs[0])]
            for radix in (2, 8):
                cells += _against(ours.get(radix), theirs[0], _GOALS_OF_TWO_PHASE.get(size))
            rows.append(cells)
    columns = (("SLOAV2, radix 2", "", "goal"), ("radix 8", "", "goal"))
    return _table(("ranks", "B", "two-phase", *columns[0], *columns[1]), rows)


def _against(ours: BenchResult | None, theirs: BenchResult, goal: float | None) -> list[str]:
    if ours is None:
        return ["", "", ""]
    return [_us(ours), _gain(ours, theirs), _met(ours, theirs, goal)]


def tuna_table() -> str:
    """Returns the table of SLOAV2 against TuNA on 128 ranks, each with its best radix."""
    results, rows = load(), []
    for size in (*SIZES, *LARGE_SIZES):
        tuna = _found(results, 128, size, "tuna", "two-phase")
        ours = _found(results, 128, size, "sloav2")
        sloav = _found(results, 128, size, "sloav")
        if not tuna or not ours:
            continue
        best = (f"{_us(each[0])} ({each[0].radix})" for each in (tuna, ours))
        verdict = _met(ours[0], tuna[0], _GOALS_OF_TUNA[size])
        radices = (
            ", ".join(str(r) for r in sorted({e.radix for e in each})) for each in (tuna, ours)
        )
        flat = _us(sloav[0]) if sloav else ""
        rows.append((f"{size:,}", flat, *best, _gain(ours[0], tuna[0]), verdict, *radices))
    return _table(
        ("B", "SLOAV", "TuNA", "SLOAV2", "", "goal", "TuNA's radices run", "SLOAV2's"), rows
    )


def many_table() -> str:
    """Returns the table of 16,384 ranks, by growing time."""
    results = sorted((e for e in load() if e.ranks == MANY), key=lambda each: each.seconds)
    linear = next(each for each in results if each.algorithm == "linear")
    rows = [
        (
            each.algorithm + (f", radix {each.radix}" if each.algorithm == "sloav2" else ""),
            f"{each.messages:,}",
            _us(each) + (" (computed)" if each.computed else ""),
            "" if each is linear else f"-{100 * (1 - each.seconds / linear.seconds):.1f} %",
        )
        for each in results
    ]
    return _table(("algorithm", "messages of a rank", "us", "against linear"), rows)


def grid_table() -> str:
    """Returns the table of the largest ratio of each number of ranks and size, on the torus."""
    return _grid_table(grid_points(), lambda point: f"{point.ranks} ranks")


def nodes_table() -> str:
    """Returns the table of the largest ratio of each machine, number of ranks and size."""

    def machine(point: GridPoint) -> str:
        return f"{point.platform}, {point.ranks} ranks, {point.node_ranks} a node"

    return _grid_table(grid_points(GRID_OF_NODES), machine)


def _grid_table(points: Sequence[GridPoint], column: Callable[[GridPoint], str]) -> str:
    by_place: dict[tuple[int, str], list[GridPoint]] = {}
    for point in points:
        by_place.setdefault((point.size, column(point)), []).append(point)
    ordered = sorted(points, key=lambda p: (p.platform, p.node_ranks, p.ranks))
    columns = list(dict.fromkeys(column(point) for point in ordered))
    rows = [
        (format_size(size), *(_worst(by_place.get((size, name), [])) for name in columns))
        for size in sorted({point.size for point in points})
    ]
    slower = [point for point in points if point.ratio > _WORST]
    worst = max(points, key=lambda point: point.ratio)
    place = f"{column(worst)}, {format_size(worst.size)}, {worst.distribution}"
    said = f"{len(points)} points; {len(slower)} are more than 5 % slower. "
    said = f"\n{said}The slowest has {worst.ratio:.3f}: {place}.\n"
    return _table(("block", *columns), rows) + said


def _worst(points: Sequence[GridPoint]) -> str:
    if not points:
        return "-"
    ratio = max(point.ratio for point in points)
    served = sum(point.used != "mpi" for point in points)
    text = f"{ratio:.3f}" if ratio <= _WORST else f"**{ratio:.3f}**"
    return f"{text} ({served} of {len(points)})"


_TABLES: dict[str, Callable[[], str]] = {
    "two-phase": two_phase_table,
    "tuna": tuna_table,
    "many-ranks": many_table,
    "grid": grid_table,
    "grid-nodes": nodes_table,
}


@click.command()
@click.option("--measure", "measures", is_flag=True, help="Run the commands without a result.")
def main(measures: bool) -> None:
    """Write the tables of docs/evidence/alltoallv.md from the files of results."""
    if measures:
        measure()
    write_atomically(PAGE, page_with_tables(PAGE.read_text()))


if __name__ == "__main__":
    main()
