"""Tables of test cases in which every pair of two columns' values stands in some row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

Row = Mapping[str, str]
Pair = tuple[tuple[str, str], tuple[str, str]]


def rows(table: str) -> list[dict[str, str]]:
    """Parses a table of columns separated by blanks; returns one row (column -> value) a line.

    The first line names the columns. Raises ValueError for a line with another number of words.
    """
    names, *lines = (line.split() for line in table.strip().splitlines())
    return [dict(zip(names, line, strict=True)) for line in lines]


def uncovered(table: Sequence[Row], values: Mapping[str, Sequence[str]]) -> set[Pair]:
    """Returns the pairs of values of two columns that no row has together; empty if none lacks.

    `values` is column -> its values.
    """
    wanted: set[Pair] = set()
    for (left, lefts), (right, rights) in combinations(values.items(), 2):
        wanted |= {((left, a), (right, b)) for a, b in product(lefts, rights)}
    for row in table:
        wanted -= set(combinations(((name, row[name]) for name in values), 2))
    return wanted
