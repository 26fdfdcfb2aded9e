"""The few shapes of SVG that the figures need.

Colours are classes with their light values as attributes, so that a renderer without CSS draws
them too; the style sheet overrides them where the reader's screen is dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from xml.sax.saxutils import escape, quoteattr

from vas_core.shown import shown

FONT = "DejaVu Sans, Verdana, sans-serif"
_WIDTH_PER_EM = 0.62

# Okabe and Ito's colours, told apart with every common kind of colour blindness; without black,
# and without yellow, which is too faint for a line on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

# class: (attribute, light, dark)
_THEME = {
    "bg": ("fill", "#ffffff", "#14171a"),
    "ink": ("fill", "#1b1f23", "#e6e8ea"),
    "muted": ("fill", "#57606a", "#a3abb3"),
    "band": ("fill", "#f1f3f5", "#1e2327"),
    "rule": ("stroke", "#c4cad0", "#414a52"),
    "line": ("stroke", "#1b1f23", "#e6e8ea"),
    "faint": ("stroke", "#8c959f", "#7a848d"),
    "use": ("fill", "#d0d7de", "#343c44"),
}


def style_sheet() -> str:
    """The colours of a dark screen."""
    rules = "".join(f".{name}{{{what}:{dark}}}" for name, (what, _, dark) in _THEME.items())
    return f"@media (prefers-color-scheme: dark){{{rules}}}"


def text_width(text: str, size: float) -> float:
    """About how wide a text is, in pixels; rather too much."""
    return len(text) * size * _WIDTH_PER_EM


def fitted(text: str, width: float, size: float) -> str:
    """A text, cut where it is wider than that."""
    most = max(1, int(width / (size * _WIDTH_PER_EM)))
    return text if len(text) <= most else text[: most - 1] + "…"


class Svg:
    """A drawing that grows downwards: `height` is set by whoever draws last."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.height = 0.0
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
        """A line of text whose baseline is at `y`."""
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"'
            f"{weight}{_coloured(kind)}>{escape(shown(text))}</text>"
        )

    def rect(
        self, x: float, y: float, width: float, height: float, colour: str, **more: object
    ) -> None:
        """A rectangle. `colour` is a class of the theme or a colour."""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
            f"{_coloured(colour)}{_attributes(more)}/>"
        )

    def path(self, data: str, colour: str, width: float, **more: object) -> None:
        """A line that is not filled."""
        stroke = _coloured(colour) if colour in _THEME else f' stroke="{colour}"'
        self._parts.append(
            f'<path d="{data}" fill="none" stroke-width="{width:g}"{stroke}{_attributes(more)}/>'
        )

    def dot(self, x: float, y: float, radius: float, colour: str, **more: object) -> None:
        """A filled circle."""
        self._parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}"{_coloured(colour)}{_attributes(more)}/>'
        )

    def area(self, data: str, colour: str, **more: object) -> None:
        """A filled shape."""
        self._parts.append(f'<path d="{data}"{_coloured(colour)}{_attributes(more)}/>')

    @contextmanager
    def group(self, title: str | None = None, **attributes: object) -> Iterator[None]:
        """Shapes that belong together; `title` is what a reader sees who points at them."""
        self._parts.append(f"<g{_attributes(attributes)}>")
        if title is not None:
            self._parts.append(f"<title>{escape(shown(title, keep=chr(10)))}</title>")
        yield
        self._parts.append("</g>")

    def document(self, title: str, *, dark: bool = True) -> str:
        """The whole picture; with `dark` it follows the reader's screen."""
        style = f"<style>{style_sheet()}</style>" if dark else ""
        size = f'width="{self.width:g}" height="{self.height:g}"'
        ground = f'<rect width="100%" height="100%"{_coloured("bg")}/>'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"'
            f' viewBox="0 0 {self.width:g} {self.height:g}" font-family={quoteattr(FONT)}>'
            f"<title>{escape(shown(title))}</title>{style}{ground}\n"
            + "\n".join(self._parts)
            + "\n</svg>\n"
        )


def _coloured(colour: str) -> str:
    if colour not in _THEME:
        return f' fill="{colour}"'
    what, light, _ = _THEME[colour]
    return f' class="{colour}" {what}="{light}"'


def _attributes(values: dict[str, object]) -> str:
    pairs = ((name.strip("_").replace("_", "-"), value) for name, value in values.items())
    return "".join(f" {name}={quoteattr(shown(value))}" for name, value in pairs)
