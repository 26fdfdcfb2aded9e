"""The table of `vas affinity top` for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from vas_affinity.machine.topology import Nearness
from vas_affinity.watch.thread_keys import label
from vas_affinity.watch.top.rows import ThreadRow
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


def cells(row: ThreadRow) -> tuple[str, ...]:
    """Returns the cells of a thread's row as text."""
    moves = "-" if row.moves_per_second is None else f"{row.moves_per_second:.1f}"
    near = "-" if row.from_irq is None else _WORDS[row.from_irq]
    return (
        label(row.key, row.name),
        f"{row.tid}",
        f"{row.core}",
        f"{100 * row.cpu:.1f}",
        moves,
        near,
    )


def frame(found: Sequence[ThreadRow], height: int) -> Table:
    """Returns one screen of so many lines: totals in the title, then the busiest threads."""
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
