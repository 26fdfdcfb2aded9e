"""Prints tables: fitted to a terminal's width, or one line per row into a pipe."""

from __future__ import annotations

import itertools
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

import click
from rich.cells import cell_len

from vas_core.shown import shown

_GAP = "  "


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table on stdout. Columns whose cells are all numbers are right-aligned.

    On a terminal that is too narrow for it the widest cells take several lines. Where that would
    cut words, rows and columns change places, or each row is its first cell with lines
    `TITLE VALUE` below. In a pipe a row is one line. No line ends in blanks.
    """
    print_lines(table_lines(columns, rows, terminal_width()))


def terminal_width() -> int | None:
    """Returns the number of columns of the terminal on stdout; None if there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_lines(lines: Iterable[tuple[str, bool]]) -> None:
    """Prints lines on stdout. Each comes with whether it is a heading, which is printed bold."""
    for text, is_head in lines:
        click.echo(click.style(text, bold=True) if is_head else text)


def table_lines(
    columns: Sequence[str], rows: Iterable[Sequence[object]], width: int | None = None
) -> Iterator[tuple[str, bool]]:
    """Yields each line of a table, and whether it is a heading.

    `width` is the number of columns of the terminal; None for lines of any length.
    """
    cells = [[shown(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    numeric = [bool(cells) and all(map(_is_number, column)) for column in zip(*cells, strict=True)]
    right = numeric or [False] * len(widths)
    if width is not None and sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        yield from _narrow(columns, cells, right, width)
        return
    yield _line(columns, widths, right), True
    for row in cells:
        yield _line(row, widths, right), False


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace(",", "").rstrip("%").isdigit() or text in ("", "-")


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool], gap: str = _GAP) -> str:
    parts = []
    for text, width, is_right in zip(row, widths, right, strict=True):
        blanks = " " * (width - cell_len(text))
        parts.append(blanks + text if is_right else text + blanks)
    return gap.join(parts).rstrip()


def _narrow(
    columns: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool], width: int
) -> Iterator[tuple[str, bool]]:
    """Cells on several lines, if that cuts no word; or rows as columns; or titles and values."""
    for gap in (_GAP, " "):
        widths = _widths(columns, cells, width - len(gap) * (len(columns) - 1))
        if widths:
            heads = [textwrap.wrap(*each) for each in zip(columns, widths, strict=True)]
            yield from ((_line(row, widths, right, gap), True) for row in _side_by_side(heads))
            for cell in cells:
                parts = [_wrapped(*each) for each in zip(cell, widths, strict=True)]
                yield from ((_line(row, widths, right, gap), False) for row in _side_by_side(parts))
            return
    turned = list(zip(columns, *cells, strict=True))
    rights = (False, *(True for _ in cells))
    widths = [max(map(cell_len, column)) for column in zip(*turned, strict=True)]
    if len(cells) <= len(columns) and sum(widths) + len(_GAP) * len(cells) <= width:
        yield from ((_line(row, widths, rights), n == 0) for n, row in enumerate(turned))
        return
    for cell in cells:
        yield from _stacked(columns, cell, width)


def _widths(
    columns: Sequence[str], cells: Sequence[Sequence[str]], room: int
) -> Sequence[int] | None:
    """Returns the widths of columns that fit into `room` and cut no word; None if none do."""
    found = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    titles = (title.replace("-", "- ") for title in columns)
    words = [" ".join(column).split() for column in zip(titles, *cells, strict=True)]
    least = [max(map(cell_len, column), default=0) for column in words]
    if sum(least) > room:
        return None
    while sum(found) > room:
        at = max(range(len(found)), key=lambda n: found[n] if found[n] > least[n] else -1)
        found[at] -= 1
    return found


def _side_by_side(cells: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    return itertools.zip_longest(*cells, fillvalue="")


def _stacked(columns: Sequence[str], row: Sequence[str], width: int) -> Iterator[tuple[str, bool]]:
    yield from ((line, True) for line in _wrapped(row[0], width))
    line = ""
    for title, cell in zip(columns[1:], row[1:], strict=True):
        pair = f"{title} {cell}"
        if cell and line and cell_len(line + pair) + 4 <= width:
            line += _GAP + pair
        elif cell:
            yield from ((_GAP + part, False) for part in _wrapped(line, width - 2) if part)
            line = pair
    yield from ((_GAP + part, False) for part in _wrapped(line, width - 2) if part)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of a text; a word that is wider than a line is cut."""
    if cell_len(text) <= width:
        return [text]
    # Only here: most commands print no table that is too wide, and these are slow to import.
    from rich.console import Console
    from rich.text import Text

    lines = Text(text).wrap(Console(width=width), width, overflow="fold")
    return [line.plain.rstrip() for line in lines]
