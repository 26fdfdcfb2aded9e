"""The findings of `vas doctor` as lines: a table, or short lines on a narrow terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from vas_core.doctor import DoctorFinding
from vas_core.program import as_called
from vas_core.shown import counted, shown
from vas_core.table import table_lines

_COLUMNS = ("", "CHECK", "FOUND", "NEEDED FOR", "FIX")
# A longer name has a line of its own.
_NAME = 24


def finding_lines(findings: Sequence[DoctorFinding], width: int) -> Iterator[tuple[str, bool]]:
    """Yields each line that shows findings, and whether it is a heading.

    `width` is the number of columns. If the table is wider, each finding is a line of mark, name
    and state; below a missing thing stand its fix and the commands that need it. A line is wider
    than `width` only for a single word that is.
    """
    table = list(table_lines(_COLUMNS, map(_row, findings)))
    if all(cell_len(text) <= width for text, _ in table):
        yield from table
        return
    names = [len(finding.name) for finding in findings if len(finding.name) <= _NAME]
    column = max((*names, len("CHECK"))) + 6
    yield f"{'    CHECK':{column}}FOUND", True
    for finding in findings:
        yield from ((line, False) for line in _narrow(finding, column, width))


def closing_lines(findings: Sequence[DoctorFinding], width: int) -> list[str]:
    """Returns the number of missing things that count, and of those that do not, as lines."""
    missing = [finding for finding in findings if not finding.ok]
    others = sum(finding.optional for finding in missing)
    count = len(missing) - others
    text = f"{_missing(count, '--')} that every command, demo, lab or bench needs"
    if others:
        text += f"; {_missing(others, 'no')} that only other commands or a site need"
    return _wrapped("", 0, text, width)


def _missing(number: int, mark: str) -> str:
    if not number:
        return "nothing is missing"
    return f"{counted(number, 'thing')} (marked {mark}) {'is' if number == 1 else 'are'} missing"


def _mark(finding: DoctorFinding) -> str:
    return "ok" if finding.ok else "no" if finding.optional else "--"


def _row(finding: DoctorFinding) -> tuple[str, ...]:
    fix = "" if finding.ok else as_called(finding.fix)
    return (_mark(finding), finding.name, finding.found, finding.needed_for, fix)


def _narrow(finding: DoctorFinding, column: int, width: int) -> Iterator[str]:
    head = f"{_mark(finding)}  {shown(finding.name)}"
    if len(head) + 2 > column:
        yield head
        head = ""
    yield from _wrapped(f"{head:{column}}", column, finding.found, width)
    if not finding.ok:
        yield from _wrapped("      needed for: ", 8, finding.needed_for, width)
        yield from _wrapped("      fix: ", 8, as_called(finding.fix), width)


def _wrapped(first: str, indent: int, text: str, width: int) -> list[str]:
    lines = textwrap.wrap(
        shown(text),
        width,
        initial_indent=first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [first.rstrip()]
