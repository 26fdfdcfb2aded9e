"""Figures as files: SVG, and PNG of the same."""

from __future__ import annotations

import re
from pathlib import Path

from vas_bench.report.page import WIDE_PX, Page, svg
from vas_core.files import write_atomically
from vas_core.svg import rendered

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def write_figures(page: Page, directory: Path) -> list[Path]:
    """Writes every figure twice into a directory, which is made if need be; returns the paths."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in page.figures:
        name = _NOT_IN_NAMES.sub("-", figure.name)
        drawn = svg(figure.draw(WIDE_PX), name)
        for suffix, content in ((".svg", drawn), (".png", rendered(drawn))):
            path = directory / f"{name}{suffix}"
            write_atomically(path, content)
            written.append(path)
    return written
