"""Draws the shapes of SVG that the pictures need.

Colours are classes with their light values as attributes, so that a renderer without CSS draws them
too; the style sheet overrides them if the reader's screen is dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from xml.sax.saxutils import escape, quoteattr

from vas_core.shown import shown
from vas_core.svg.theme import THEME, Theme, style_sheet

FONT = "DejaVu Sans, Verdana, sans-serif"


class Svg:
    """A drawing in pixels. Its drawer sets `height` at the end, when it is known.

    A shape's colour is a class of `theme`, or any colour of SVG.
    """

    def __init__(self, width: float, theme: Theme = THEME) -> None:
        self.width = width
        self.height = 0.0
        self._theme = theme
        self._parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 12,
        anchor: str = "start",
        kind: str = "ink",
        bold: bool = False,
    ) -> None:
        """Draws a line of text whose baseline is at `y`."""
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"'
            f"{weight}{self._filled(kind)}>{escape(shown(text))}</text>"
        )

    def rect(
        self, x: float, y: float, width: float, height: float, colour: str, **more: object
    ) -> None:
        """Draws a filled rectangle."""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
            f"{self._filled(colour)}{_attributes(more)}/>"
        )

    def path(self, data: str, colour: str, width: float, **more: object) -> None:
        """Draws an unfilled line along the path `data` (SVG's `d`), `width` pixels wide."""
        stroke = self._filled(colour) if colour in self._theme else f' stroke="{colour}"'
        self._parts.append(
            f'<path d="{data}" fill="none" stroke-width="{width:g}"{stroke}{_attributes(more)}/>'
        )

    def dot(self, x: float, y: float, radius: float, colour: str, **more: object) -> None:
        """Draws a filled circle around a point."""
        centre = f'cx="{x:g}" cy="{y:g}" r="{radius:g}"'
        self._parts.append(f"<circle {centre}{self._filled(colour)}{_attributes(more)}/>")

    def area(self, data: str, colour: str, **more: object) -> None:
        """Draws a filled shape within the path `data` (SVG's `d`)."""
        self._parts.append(f'<path d="{data}"{self._filled(colour)}{_attributes(more)}/>')

    @contextmanager
    def group(self, title: str | None = None, **attributes: object) -> Iterator[None]:
        """Groups the shapes drawn within `with`; a reader who points at them sees `title`."""
        self._parts.append(f"<g{_attributes(attributes)}>")
        if title is not None:
            self._parts.append(f"<title>{escape(shown(title, keep=chr(10)))}</title>")
        yield
        self._parts.append("</g>")

    def document(self, title: str, *, description: str = "", dark: bool = True) -> str:
        """Returns the whole picture as SVG; with `dark` its colours follow the reader's screen.

        `description` is read aloud to readers who cannot see it.
        """
        style = f"<style>{style_sheet(self._theme)}</style>" if dark else ""
        about = f"<desc>{escape(shown(description))}</desc>" if description else ""
        size = f'width="{self.width:g}" height="{self.height:g}"'
        ground = f'<rect width="100%" height="100%"{self._filled("bg")}/>'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"'
            f' viewBox="0 0 {self.width:g} {self.height:g}" font-family={quoteattr(FONT)}>'
            f"<title>{escape(shown(title))}</title>{about}{style}{ground}\n"
            + "\n".join(self._parts)
            + "\n</svg>\n"
        )

    def _filled(self, colour: str) -> str:
        if colour not in self._theme:
            return f' fill="{colour}"'
        what, light, _ = self._theme[colour]
        return f' class="{colour}" {what}="{light}"'


def _attributes(values: dict[str, object]) -> str:
    pairs = ((name.strip("_").replace("_", "-"), value) for name, value in values.items())
    return "".join(f" {name}={quoteattr(shown(value))}" for name, value in pairs)
