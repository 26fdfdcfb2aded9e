"""Tables for a terminal and for a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

import click
from rich.cells import cell_len

from vas_core.shown import shown

_GAP = "  "


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table on stdout. Columns whose cells are all numbers are right-aligned.

    A terminal that is too narrow for it gets it with the widest cells folded. Elsewhere a row is
    one line, and nothing is folded or cut. No line ends in blanks.
    """
    print_lines(table_lines(columns, rows, terminal_width()))


def terminal_width() -> int | None:
    """Returns the number of columns of the terminal on stdout; None if there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_lines(lines: Iterable[tuple[str, bool]]) -> None:
    """Prints lines on stdout; those of a head are bold."""
    for text, is_head in lines:
        click.echo(click.style(text, bold=True) if is_head else text)


def table_lines(
    columns: Sequence[str], rows: Iterable[Sequence[object]], width: int | None = None
) -> Iterator[tuple[str, bool]]:
    """Yields the lines of a table, and whether each is one of its head.

    `width` is the number of columns of the terminal; None for lines as long as they are.
    """
    cells = [[shown(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    numeric = [bool(cells) and all(map(_is_number, column)) for column in zip(*cells, strict=True)]
    right = numeric or [False] * len(widths)
    if width is not None and sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        yield from _folded(columns, cells, right, width)
        return
    yield _line(columns, widths, right), True
    for row in cells:
        yield _line(row, widths, right), False


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace(",", "").rstrip("%").isdigit() or text in ("", "-")


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = []
    for text, width, is_right in zip(row, widths, right, strict=True):
        blanks = " " * (width - cell_len(text))
        parts.append(blanks + text if is_right else text + blanks)
    return _GAP.join(parts).rstrip()


def _folded(
    columns: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool], width: int
) -> Iterator[tuple[str, bool]]:
    # Only here: most commands print no table that is too wide, and these are slow to import.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, len(_GAP), 0, 0), header_style="bold")
    for title, is_right in zip(columns, right, strict=True):
        table.add_column(Text(title), justify="right" if is_right else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    for line in Console(width=width).render_lines(table):
        is_head = any(part.style and part.style.bold for part in line)
        yield "".join(part.text for part in line).rstrip(), is_head
