"""Computes how well the texts of an SVG stand out from their background, in light and dark.

A text's background is the topmost rectangle that was drawn before it and holds the point looked at;
curves and circles are left out. WCAG 2.1 defines the ratio; 4.5 is its level AA.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_BLANKS = re.compile(r"\s*([{}:;])\s*")
_DARK = re.compile(r"@media [^{}]*\(prefers-color-scheme:dark\)\{((?:[^{}]*\{[^}]*\})*)\}")
# The last class of a rule's last selector.
_FILL = re.compile(r"\.([\w-]+)\{(?:[^{}]*;)?fill:(#[0-9a-f]{3,6})")
# Of a letter's height: a wide one, so that the looked-at ends lie within the text.
_LETTER_WIDTH = 0.5

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class ColouredBox:
    """A rectangle with its colour; `everywhere` if it covers 100 % of the picture."""

    left: float
    top: float
    width: float
    height: float
    colour: Colour
    everywhere: bool = False

    def holds(self, x: float, y: float) -> bool:
        """Tells whether a point lies in the rectangle."""
        inside = 0 <= x - self.left <= self.width and 0 <= y - self.top <= self.height
        return self.everywhere or inside


@dataclass(frozen=True)
class Contrast:
    """A text and its smallest contrast to its backgrounds, a ratio from 1 to 21."""

    text: str
    ratio: float
    dark: bool

    @classmethod
    def of(cls, text: str, ink: Colour, grounds: list[Colour], dark: bool) -> Self:
        """Returns a text's smallest contrast to any of these grounds; `ink` is its colour."""
        return cls(text, min(ratio(ink, ground) for ground in grounds), dark)


def contrasts(file: Path) -> Iterator[Contrast]:
    """Yields each text of an SVG in light, and in dark if the file has a dark style."""
    root = ElementTree.fromstring(file.read_text())
    styles = "".join(style.text or "" for style in root.iter(f"{_SVG}style"))
    styles = _BLANKS.sub(r"\1", styles)
    light = dict(_FILL.findall(_DARK.sub("", styles)))
    yield from _texts(root, light, dark=False)
    if dark := _DARK.search(styles):
        yield from _texts(root, light | dict(_FILL.findall(dark[1])), dark=True)


def ratio(one: Colour, other: Colour) -> float:
    """Returns WCAG's contrast ratio of two colours, from 1 to 21."""
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: Colour) -> float:
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _colour(text: str) -> Colour:
    digits = text.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return red, green, blue


def _texts(
    root: ElementTree.Element, fills: Mapping[str, str], *, dark: bool
) -> Iterator[Contrast]:
    parents = {child: parent for parent in root.iter() for child in parent}

    def found(element: ElementTree.Element, name: str, default: str) -> str:
        at: ElementTree.Element | None = element
        while at is not None:
            if name in at.attrib:
                return at.attrib[name]
            at = parents.get(at)
        return default

    def filled(element: ElementTree.Element) -> str:
        classes = element.get("class", "").split()
        return next((fills[c] for c in classes if c in fills), found(element, "fill", "#000000"))

    drawn: list[ColouredBox] = []
    for element in root.iter():
        if element.tag == f"{_SVG}rect" and filled(element) != "none":
            drawn.append(_box(element, _colour(filled(element)), drawn))
        if element.tag == f"{_SVG}text" and (words := "".join(element.itertext())):
            size = float(found(element, "font-size", "16"))
            points = _points(element, words, size, found(element, "text-anchor", "start"))
            grounds = [_ground(drawn, *point) for point in points]
            yield Contrast.of(words, _colour(filled(element)), grounds, dark)


def _box(element: ElementTree.Element, colour: Colour, drawn: list[ColouredBox]) -> ColouredBox:
    share = float(element.get("opacity", "1")) * float(element.get("fill-opacity", "1"))
    everywhere = element.get("width") == "100%"
    numbers = ("0", "0", "0", "0") if everywhere else _numbers(element)
    left, top, width, height = map(float, numbers)
    if share < 1:
        below = _ground(drawn, left + width / 2, top + height / 2)
        red, green, blue = (share * a + (1 - share) * b for a, b in zip(colour, below, strict=True))
        colour = (red, green, blue)
    return ColouredBox(left, top, width, height, colour, everywhere)


def _numbers(element: ElementTree.Element) -> tuple[str, ...]:
    return tuple(element.get(name, "0") for name in ("x", "y", "width", "height"))


def _points(
    element: ElementTree.Element, words: str, size: float, anchor: str
) -> list[tuple[float, float]]:
    """A text's beginning, middle and end, at half the height of its letters."""
    x, y = float(element.get("x", "0")), float(element.get("y", "0"))
    width = len(words) * size * _LETTER_WIDTH
    left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
    return [(left + share * width, y - size / 3) for share in (0.1, 0.5, 0.9)]


def _ground(drawn: list[ColouredBox], x: float, y: float) -> Colour:
    white: Colour = (1, 1, 1)
    return next((box.colour for box in reversed(drawn) if box.holds(x, y)), white)
