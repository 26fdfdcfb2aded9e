"""The view of `vas affinity top`."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.table import Table

from vas_affinity.top.rows import Row
from vas_affinity.topology import Nearness
from vas_core.shown import shown

COLUMNS = ("THREAD", "TID", "CORE", "CPU %", "MOVES/s", "FROM IRQ")
_WORDS = {
    Nearness.SAME: "same CPU",
    Nearness.CORE: "same core",
    Nearness.CACHE: "same L3",
    Nearness.MEMORY: "same node",
    Nearness.PACKAGE: "same package",
    Nearness.NONE: "far",
}


def cells(row: Row) -> tuple[str, ...]:
    """A row as text."""
    moves = "-" if row.moves_per_second is None else f"{row.moves_per_second:.1f}"
    near = "-" if row.from_irq is None else _WORDS[row.from_irq]
    return row.key, f"{row.tid}", f"{row.core}", f"{100 * row.cpu:.1f}", moves, near


def row_json(row: Row) -> dict[str, object]:
    """A row as data."""
    near = None if row.from_irq is None else row.from_irq.name.lower()
    return {**vars(row), "from_irq": near}


def frame(found: Sequence[Row], height: int) -> Table:
    """One screen."""
    used = sum(row.cpu for row in found)
    moves = sum(row.moves_per_second or 0.0 for row in found)
    title = f"{len(found)} threads, {100 * used:.0f} % CPU, {moves:.1f} moves/s; q quits"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for number, column in enumerate(COLUMNS):
        right = 1 <= number <= 4
        table.add_column(column, justify="right" if right else "left", no_wrap=True)
    for row in found[: max(1, height - 3)]:
        table.add_row(*map(shown, cells(row)))
    return table


@contextmanager
def keys() -> Iterator[None]:
    """Keys come as they are pressed, and are not shown."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def quit_within(seconds: float) -> bool:
    """Waits so long, or until q is pressed, which it says."""
    if not sys.stdin.isatty():
        select.select([], [], [], seconds)
        return False
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(ready) and os.read(sys.stdin.fileno(), 64).lower().startswith(b"q")
