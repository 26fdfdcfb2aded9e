"""Reads CSV files of measurements into rows that know their line, for error messages."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.reading import read_limited

_MOST_BYTES = 256 << 20

# Of what is further from one than that, squares and ratios are no numbers any more.
_LEAST, _LARGEST = 1e-100, 1e100


@dataclass(frozen=True)
class CsvRow:
    """A line's cells by column; `where` is its file and line."""

    where: str
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Returns a cell's text. Raises BadInput if it is empty."""
        text = self.cells[column]
        if not text:
            raise BadInput(f"{column} is empty", where=self.where, hint="give it or drop the line")
        return text

    def number(self, column: str, *, above_zero: bool = True) -> float:
        """Returns a cell's number. Raises BadInput if it is not a finite number or too small."""
        text = self.text(column)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0 or (above_zero and value == 0):
            least = "above zero" if above_zero else "of zero or more"
            raise BadInput(f"{column} is {text!r}", where=self.where, hint=f"a number {least}")
        if value and not _LEAST <= value <= _LARGEST:
            hint = f"{_LEAST:g} to {_LARGEST:g}: give it in another unit"
            raise BadInput(f"{column} is {text}", where=self.where, hint=hint)
        return value


@dataclass(frozen=True)
class CsvTable:
    """The columns in their order and the rows, of which there is at least one."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[CsvRow, ...]


def read_table(file: Path) -> CsvTable:
    """Reads a CSV file with a line of column names; `-` is stdin. Lines with # are comments.

    Raises BadInput without any rows, or if one has more or fewer cells than there are columns;
    OSError where the file cannot be read.
    """
    if str(file) == "-":
        return parse_table(sys.stdin, "stdin")
    try:
        text = read_limited(file, _MOST_BYTES).decode("utf-8-sig")
        return parse_table(io.StringIO(text, newline=""), str(file))
    except UnicodeDecodeError:
        raise BadInput("is not text", where=str(file), hint="give a CSV file in UTF-8") from None


def parse_table(lines: Iterable[str], name: str) -> CsvTable:
    """Parses the lines of a file of that name. Raises BadInput as `read_table`."""
    numbered = [(number, line) for number, line in enumerate(lines, 1) if _is_data(line)]
    cells = _cells([line for _, line in numbered], name)
    if len(cells) < 2:
        raise BadInput("holds no rows", where=name, hint="column names first, then a line each")
    columns = _columns(cells[0], name)
    found = zip(numbered[1:], cells[1:], strict=True)
    return CsvTable(name, columns, tuple(_row(f"{name}:{n}", columns, c) for (n, _), c in found))


def _cells(lines: Sequence[str], name: str) -> list[list[str]]:
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader(lines)]
    except csv.Error as wrong:
        raise BadInput(f"is not CSV: {wrong}", where=name) from None
    if len(cells) != len(lines):
        raise BadInput("a quoted cell goes over several lines", where=name, hint="close its quotes")
    return cells


def _is_data(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _columns(names: Sequence[str], where: str) -> tuple[str, ...]:
    columns = tuple(names)
    if len(set(columns)) < len(columns) or not all(columns):
        raise BadInput("column names are empty or doubled", where=where, hint="name each once")
    return columns


def _row(where: str, columns: Sequence[str], cells: Sequence[str]) -> CsvRow:
    if len(cells) != len(columns):
        hint = "quote what has commas"
        raise BadInput(f"{len(cells)} cells, not {len(columns)}", where=where, hint=hint)
    return CsvRow(where, dict(zip(columns, cells, strict=True)))
