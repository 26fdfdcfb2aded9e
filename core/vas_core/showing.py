"""Shows on a terminal what runs now, and how much of a sequence is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def each_shown(
    items: Sequence[Item], name: Callable[[Item], str], do: Callable[[Item], Result]
) -> list[Result]:
    """Returns what `do` returns for each item, and shows the item's name on stderr meanwhile.

    Nothing is shown where stderr is not a terminal, and the line is gone at the end.
    """
    if not sys.stderr.isatty():
        return [do(item) for item in items]
    # Only here: a pipe needs none, and these are slow to import.
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    results = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(file=sys.stderr)
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=len(items))
        for item in items:
            progress.update(task, description=escape(name(item)))
            results.append(do(item))
            progress.advance(task)
    return results


def one_shown(name: str, do: Callable[[], Result]) -> Result:
    """Returns what `do` returns, and shows a name on stderr meanwhile, as `each_shown` does."""
    return each_shown([name], str, lambda _: do())[0]
