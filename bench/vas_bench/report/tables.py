"""A table of the report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReportTable:
    """Rows under their columns' names; the first cell of a row names it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
