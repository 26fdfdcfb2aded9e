"""Renders the results of checks as one self-contained HTML page.

`vas accept` and the playbook verify.yml fill it; each has its own words for a status.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

Tone = Literal["good", "bad", "open"]


@dataclass(frozen=True)
class ChecklistRow:
    """The result of one check: its cells (names), its status, and lines that explain it.

    `tone` is the status as a colour: good, bad, or open (not decided).
    """

    cells: tuple[str, ...]
    status: str
    tone: Tone
    lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ChecklistPage:
    """A page of results. `columns` name the cells of the rows; `counts` are (status, rows with it).

    `facts` are (name, value) pairs of the site, printed before the rows.
    """

    title: str
    heading: str
    about: str
    counts: Sequence[tuple[str, int]]
    columns: Sequence[str]
    rows: Sequence[ChecklistRow]
    facts: Sequence[tuple[str, str]] = ()

    def html(self) -> str:
        """Returns the page as HTML that loads no other file; rows of tone `bad` come first."""
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
