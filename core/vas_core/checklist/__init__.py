"""Renders the results of checks as one self-contained HTML page: the kit of all rooms that check.

`vas accept` and the playbook verify.yml fill it; the words of a status are theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

Tone = Literal["good", "bad", "open"]


@dataclass(frozen=True)
class ChecklistRow:
    """The result of one check: its names, its status, and the lines that a reader gets."""

    cells: tuple[str, ...]
    status: str
    tone: Tone
    lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ChecklistPage:
    """A page of results. `columns` name the cells of the rows; `facts` stand before them."""

    title: str
    heading: str
    about: str
    counts: Sequence[tuple[str, int]]
    columns: Sequence[str]
    rows: Sequence[ChecklistRow]
    facts: Sequence[tuple[str, str]] = ()

    def html(self) -> str:
        """Returns the page, which asks for nothing outside itself; failed checks come first."""
        environment = Environment(
            loader=PackageLoader("vas_core.checklist", ""),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        rows = sorted(self.rows, key=lambda row: row.tone != "bad")
        return environment.get_template("checklist.html.j2").render(
            page=ChecklistPage(**{**vars(self), "rows": rows})
        )
