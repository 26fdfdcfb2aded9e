"""Draws what communicates on a host and what it pays: a joint problem before and after a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vas_affinity.pictures.boxes import CELL_HEIGHT
from vas_affinity.pictures.cells import HostMap
from vas_affinity.pictures.map_svg import Drawn, draw_host
from vas_core.svg import Svg, text_width

_WIDTH, _EDGE, _GAP = 1000.0, 16.0, 22.0
_WIDEST, _THINNEST = 8.0, 1.2
_DEEPEST = 22.0
_COLOUR = "#CC79A7"
_LEGEND = (
    "A line joins two that communicate, or a thread and the interrupts that it waits for (dashed); "
    "its width is what they pay."
)


@dataclass(frozen=True)
class CostLink:
    """The cost of the distance of two CPUs' entities. `to_interrupt`: one is an interrupt."""

    one: int
    other: int
    cost: float
    to_interrupt: bool = False


@dataclass(frozen=True)
class LinkedMap:
    """A host's map with a title and its links."""

    title: str
    host: HostMap
    links: tuple[CostLink, ...]


def draw_links(maps: Sequence[LinkedMap]) -> Svg:
    """Draws maps below one another, with links of one scale."""
    svg = Svg(_WIDTH)
    most = max((link.cost for each in maps for link in each.links), default=1.0)
    right, y = 0.0, 0.0
    for each in maps:
        drawn = draw_host(svg, each.host, each.title, y, _under(svg, each.links, most))
        right, y = max(right, drawn.right), drawn.bottom + _GAP
    svg.text(_EDGE, y, _LEGEND, size=11, kind="muted")
    svg.width, svg.height = max(right, text_width(_LEGEND, 11) + _EDGE) + _EDGE, y + _EDGE
    return svg


def _under(svg: Svg, links: Sequence[CostLink], most: float) -> Callable[[Drawn], None]:
    def draw(drawn: Drawn) -> None:
        for link in sorted(links, key=lambda link: link.cost):
            if link.one != link.other:
                _draw(svg, drawn, link, most)

    return draw


def _draw(svg: Svg, drawn: Drawn, link: CostLink, most: float) -> None:
    """Draws a line between two squares: below both in one row, else between the rows."""
    ends = (drawn.centres[link.one], drawn.centres[link.other])
    (x, y), (to_x, to_y) = sorted(ends, key=lambda point: (point[1], point[0]))
    half = CELL_HEIGHT / 2
    if y == to_y:
        deep = min(_DEEPEST, 8 + 0.05 * abs(to_x - x))
        path = f"M{x:g} {y + half:g}C{x:g} {y + half + deep:g} {to_x:g} {y + half + deep:g}"
        path += f" {to_x:g} {y + half:g}"
    else:
        path = f"M{x:g} {y + half:g}L{to_x:g} {to_y - half:g}"
    width = max(_THINNEST, _WIDEST * (link.cost / most) ** 0.5)
    dash = {"stroke_dasharray": "5 3"} if link.to_interrupt else {}
    svg.path(path, _COLOUR, round(width, 1), stroke_opacity=0.75, **dash)
