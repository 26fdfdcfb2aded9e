"""Draws the stacks of samples as a flame graph: a frame is as wide as its share of the samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vas_core.svg.drawing import Svg
from vas_core.svg.text import fitted
from vas_core.svg.theme import THEME, Theme

_WIDTH, _MARGIN, _ROW, _FONT = 1000.0, 10.0, 16.0, 10.0
_MOST_ROWS = 24
# Narrower boxes, and what is above them, are left out: of few samples they say nothing. Narrower
# ones than the second have no name.
_NARROWEST, _NARROWEST_NAMED = 12.0, 30.0
_KINDS = {
    "vas": ("VAS", ("org.vas.",)),
    "hadoop": ("Hadoop", ("org.apache.hadoop.",)),
    "java": ("Java", ("java.", "jdk.", "javax.", "sun.", "com.sun.")),
}
_OTHER = "library"
_COLOURS: Theme = {
    "vas": ("fill", "#a6e0cb", "#0f5c45"),
    "hadoop": ("fill", "#bcdcf4", "#17496e"),
    "java": ("fill", "#f7d9b8", "#6b4310"),
    _OTHER: ("fill", "#e3d3e4", "#5a3a5d"),
}


@dataclass
class _Frame:
    """A frame, how many samples have it above the same frames, and what stands on it."""

    count: int = 0
    above: dict[str, _Frame] = field(default_factory=dict)

    def add(self, stack: Iterable[str]) -> None:
        """Counts a sample's stack, the outermost frame first."""
        self.count += 1
        frame = self
        for name in stack:
            frame = frame.above.setdefault(name, _Frame())
            frame.count += 1


def flame_graph(graphs: Mapping[str, Sequence[Sequence[str]]]) -> Svg:
    """Draws one flame graph below the other, each under its heading; stacks grow downwards.

    `graphs` is heading -> stacks. A stack is its frames' `package.Class.method`, the outermost
    first.
    """
    svg = Svg(_WIDTH, {**THEME, **_COLOURS})
    svg.height = _MARGIN
    _draw_legend(svg)
    for heading, stacks in graphs.items():
        root = _Frame()
        for stack in stacks:
            root.add(stack[:_MOST_ROWS])
        svg.height += 24
        svg.text(_MARGIN, svg.height, f"{heading}: {root.count} samples", size=12, bold=True)
        svg.height += 8
        scale = (_WIDTH - 2 * _MARGIN) / max(root.count, 1)
        _draw_above(svg, root, _MARGIN, svg.height, scale)
        svg.height += _ROW * _rows(root, scale)
    svg.height += _MARGIN
    return svg


def _draw_legend(svg: Svg) -> None:
    x = _MARGIN
    for kind, name in [
        *((kind, text) for kind, (text, _) in _KINDS.items()),
        (_OTHER, "libraries"),
    ]:
        svg.rect(x, svg.height, 12, 12, kind)
        svg.text(x + 17, svg.height + 10, name, size=_FONT)
        x += 90
    svg.height += 12


def _draw_above(svg: Svg, below: _Frame, x: float, y: float, scale: float) -> None:
    for name, frame in _widest_first(below, scale):
        width = frame.count * scale
        with svg.group(f"{name}\n{frame.count} samples"):
            svg.rect(x, y, width - 0.5, _ROW - 1, _kind(name))
            if width >= _NARROWEST_NAMED:
                shown = fitted(_short(name), width - 4, _FONT)
                svg.text(x + 2, y + 11, shown, size=_FONT)
        _draw_above(svg, frame, x, y + _ROW, scale)
        x += width


def _widest_first(below: _Frame, scale: float) -> list[tuple[str, _Frame]]:
    wide = [each for each in below.above.items() if each[1].count * scale >= _NARROWEST]
    return sorted(wide, key=lambda each: (-each[1].count, each[0]))


def _rows(below: _Frame, scale: float) -> int:
    return max((1 + _rows(each, scale) for _, each in _widest_first(below, scale)), default=0)


def _kind(name: str) -> str:
    return next((kind for kind, (_, own) in _KINDS.items() if name.startswith(own)), _OTHER)


def _short(name: str) -> str:
    return ".".join(name.split(".")[-2:])
