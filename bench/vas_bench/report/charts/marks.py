"""The marks of a chart. Lengths are pixels of its view box; styles are classes of chart.css."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from vas_core import svg

FONT_PX = 13


@dataclass(frozen=True)
class Text:
    """A line of text; `y` is its base line."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "start"
    style: str = "ink"
    kind: ClassVar = "text"

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The text's box: left, top, right, bottom, with room for any usual sans-serif font."""
        width = text_width(self.text)
        left = self.x - {"start": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - FONT_PX, left + width, self.y + 0.25 * FONT_PX


@dataclass(frozen=True)
class ChartLine:
    """A straight line between two points."""

    x1: float
    y1: float
    x2: float
    y2: float
    style: str = "axis"
    kind: ClassVar = "line"


@dataclass(frozen=True)
class Bar:
    """A filled rectangle with a style."""

    x: float
    y: float
    width: float
    height: float
    style: str
    kind: ClassVar = "bar"


@dataclass(frozen=True)
class Dot:
    """A filled circle with a style."""

    x: float
    y: float
    style: str
    radius: float = 3.5
    kind: ClassVar = "dot"


@dataclass(frozen=True)
class ChartPath:
    """A line through points; an area when `closed`."""

    points: Sequence[tuple[float, float]]
    style: str
    closed: bool = False
    kind: ClassVar = "path"

    @property
    def d(self) -> str:
        """The path in SVG's notation."""
        steps = " L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)
        return f"M{steps}{' Z' if self.closed else ''}"


Mark = Text | ChartLine | Bar | Dot | ChartPath


@dataclass(frozen=True)
class Chart:
    """A drawing, with a title and the description that is read where it cannot be seen."""

    title: str
    description: str
    width: float
    height: float
    marks: tuple[Mark, ...]

    @property
    def texts(self) -> list[Text]:
        """The labels of the chart."""
        return [mark for mark in self.marks if isinstance(mark, Text)]


def text_width(text: str) -> float:
    """Returns how many pixels a label takes at most."""
    return svg.text_width(text, FONT_PX)


def fitted(text: str, width: float) -> str:
    """Cuts a label to a width in pixels, with an ellipsis if something was cut."""
    return svg.fitted(text, width, FONT_PX)
