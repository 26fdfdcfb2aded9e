"""Reads the documents for tests: pages, headings as GitHub links to them, links, tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from vas_core.repository import REPOSITORY

DOCS = REPOSITORY / "docs"

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]*`")
_OUTSIDE = re.compile(r"[a-z]+:")


def pages() -> list[Path]:
    """Returns every page a reader is led to: the README, CONTRIBUTING and all below docs/."""
    return [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def anchors(page: Path) -> set[str]:
    """Returns the anchors of a page's headings, as GitHub makes them.

    The second heading of the same name has `-1` at its end, and so on.
    """
    seen: Counter[str] = Counter()
    found = set()
    for heading in _HEADING.findall(_FENCE.sub("", page.read_text())):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def links(page: Path) -> list[str]:
    """Returns the targets of a page's links and pictures, without those on the internet."""
    text = _CODE.sub("", _FENCE.sub("", page.read_text()))
    return [target for target in _LINK.findall(text) if not _OUTSIDE.match(target)]


def dead_links(page: Path) -> Iterator[str]:
    """Yields `PAGE: TARGET` for each link to a file or heading that is not there."""
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        there = file.exists() and (not anchor or file.suffix != ".md" or anchor in anchors(file))
        if not there:
            yield f"{page.relative_to(REPOSITORY)}: {target}"


def table(page: Path, heading: str) -> list[list[str]]:
    """Returns the cells of the first table below a heading, without its head."""
    _, _, below = page.read_text().partition(f"\n## {heading}\n")
    rows = re.search(r"^\|.*(?:\n\|.*)*", below, re.MULTILINE)
    assert rows, f"{page.name}: no table below {heading!r}"
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[0].split("\n")[2:]]
