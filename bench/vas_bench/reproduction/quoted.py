"""Finds figures of a text that stand on none of the pages that the text names. Pure.

A figure is a number with what belongs to it: its unit, its interval, and the sign n= or p=. Numbers
in names (SLOAV2), in `code` and in the targets of links are none. On a page the parts have to stand
next to one another in the same order; brackets, bold letters and the bars of tables do not count.
In a table a unit may stand in the head or in the row's first cell instead, and a column called n or
p names its numbers. `35 % less` may also be what a ratio in the same text says: 0.65.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NUMBER = r"-?\d(?:[\d,]*\d)?(?:\.\d+)?(?:/\d+(?:\.\d+)?)?"
_UNIT = r"%|TiB|GiB|MiB|KiB|ns|us|ms|s|Gbit/s|HSph"
_INTERVAL = rf"{_NUMBER} to {_NUMBER}"
_FIGURE = re.compile(
    rf"(?<![\w.,/-])(?:[np]=)?(?:{_INTERVAL}|{_NUMBER})(?: (?:{_UNIT})(?!\w))?"
    rf"(?: {_INTERVAL}(?: (?:{_UNIT})(?!\w))?)?(?![\w/]|[.,]\d)"
)
_PARTS = re.compile(rf"[np]=|to|{_NUMBER}|{_UNIT}")
_UNITS = re.compile(rf"(?<!\S)(?:{_UNIT})(?!\w)")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
_MARKS = re.compile(r"[*|`()\[\]<>\s]+|95 % interval")
_SIGN = re.compile(r"\b([np]) ?(?:=|is)? ?(?=\d)")
_LESS = re.compile(r"(\d+) % less")
_RATIO = re.compile(r"(?<![\w.,])0\.\d+")


@dataclass(frozen=True)
class QuotedPage:
    """A page's prose as one line without marks, and each row of its tables with its units."""

    prose: str
    rows: tuple[tuple[str, frozenset[str]], ...]


def parsed_page(text: str) -> QuotedPage:
    """Returns a page of Markdown, or any other text, as figures are looked for in it."""
    rows, head, others = [], list[str](), []
    for line in text.splitlines():
        if not line.startswith("|"):
            head = []
            others.append(line)
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        head = head or cells
        named = (
            f"{label}={cell}" if label in ("n", "p") else cell
            for label, cell in zip(head, cells, strict=False)
        )
        units = _UNITS.findall(_plain(" ".join([*head, cells[0]]).replace(",", " ")))
        rows.append((_plain(" | ".join(named)), frozenset(units)))
    return QuotedPage(_plain("\n".join(others)), tuple(rows))


def missing_figures(text: str, pages: Iterable[QuotedPage]) -> list[str]:
    """Returns the figures of a text that stand on none of the pages, in the text's order."""
    found = list(pages)
    own = _plain(_LINK.sub(r"\1", _CODE.sub(" ", text)))
    derived = set(_less_by_ratio(own))
    figures = [match[0] for match in _FIGURE.finditer(own)]
    return [
        figure
        for figure in figures
        if figure not in derived and not any(_stands(figure, page) for page in found)
    ]


def _plain(text: str) -> str:
    """The text without marks, with one blank between words, `n=5` for `n 5` and `5 %` for `5%`."""
    text = _MARKS.sub(" ", _MARKS.sub(" ", _LINK.sub(r"\1", text)))
    text = re.sub(r"(?<!\S)\+(?=\d)", "", re.sub(r"(?<=\d)%", " %", text))
    return _SIGN.sub(r"\1=", re.sub(r"\s+", " ", text))


def _less_by_ratio(text: str) -> Iterator[str]:
    ratios = [float(match[0]) for match in _RATIO.finditer(text)]
    for match in _LESS.finditer(text):
        if any(f"{100 * (1 - ratio):.0f}" == match[1] for ratio in ratios):
            yield f"{match[1]} %"


def _stands(figure: str, page: QuotedPage) -> bool:
    parts = _PARTS.findall(figure)
    if _pattern(parts).search(page.prose):
        return True
    return any(_pattern(parts, units).search(row) for row, units in page.rows)


def _pattern(parts: list[str], units: frozenset[str] = frozenset()) -> re.Pattern[str]:
    pattern, between = r"(?<![\w.,])" if not parts[0].startswith("-") else "", ""
    for part in parts:
        text = f"{between}{re.escape(part)}"
        pattern += f"(?:{text})?" if part in units else text
        between = "" if part in ("n=", "p=") else " "
    return re.compile(rf"{pattern}(?!\w|[.,]\d)")
