"""Draws a share of a whole for each of many things, as bars of one length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vas_bench.report.charts.marks import Bar, Chart, Mark, Text, fitted, text_width

_TITLE_PX = 26
_ROW_PX = 20
_GAP_PX = 10


@dataclass(frozen=True)
class ShareBar:
    """A bar: its label, the share from 0 to 1, and the share in words."""

    name: str
    share: float
    words: str


@dataclass(frozen=True)
class ShareBlock:
    """Bars of one arm."""

    name: str
    series: int
    shares: tuple[ShareBar, ...]


def shares(title: str, description: str, blocks: Sequence[ShareBlock], width: float) -> Chart:
    """Draws the chart: blocks one below the other."""
    bars = [share for block in blocks for share in block.shares]
    left = min(max(text_width(bar.name) for bar in bars), 0.35 * width) + _GAP_PX
    right = width - max(text_width(bar.words) for bar in bars) - _GAP_PX
    marks: list[Mark] = []
    top = 0.0
    for block in blocks:
        marks += _block(block, (left, right), top, width)
        top += _TITLE_PX + _ROW_PX * len(block.shares) + _GAP_PX
    return Chart(title, description, width, top, tuple(marks))


def _block(
    block: ShareBlock, sides: tuple[float, float], top: float, width: float
) -> Iterator[Mark]:
    left, right = sides
    yield Text(0, top + 17, fitted(block.name, width), style="ink strong")
    for number, share in enumerate(block.shares):
        y = top + _TITLE_PX + number * _ROW_PX
        yield Text(0, y + 14, fitted(share.name, left - _GAP_PX), style="ink")
        yield Bar(left, y + 4, right - left, 12, "whole")
        if share.share > 0:
            yield Bar(left, y + 4, share.share * (right - left), 12, f"s{block.series}")
        yield Text(width, y + 14, share.words, "end", "ink")
