"""Writes a picture as the kind that its file's name says: SVG, PNG, or HTML with tool tips."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import jinja2
import resvg_py

from vas_core.errors import BadInput
from vas_core.files import write_atomically
from vas_core.svg.drawing import Svg

_PNG_ZOOM = 2
_KINDS = (".svg", ".png", ".html")


def check_name(path: Path) -> None:
    """Raises BadInput if the file's name does not say a kind of picture."""
    if path.suffix.lower() not in _KINDS:
        raise BadInput(
            "is not a name of a picture", where=str(path), hint="use .svg, .png or .html"
        )


def write_picture(svg: Svg, path: Path, title: str) -> None:
    """Writes the kind of picture that the file's name says. Raises BadInput for another name."""
    check_name(path)
    kind = path.suffix.lower()
    if kind == ".svg":
        write_atomically(path, svg.document(title))
    elif kind == ".png":
        write_atomically(path, png(svg, title))
    else:
        write_atomically(path, html(svg, title))


def png(svg: Svg, title: str) -> bytes:
    """Renders a picture in light colours, at twice the size."""
    return rendered(svg.document(title, dark=False))


def rendered(document: str) -> bytes:
    """Renders an SVG document as PNG, at twice the size, with the fonts of this machine."""
    return bytes(resvg_py.svg_to_bytes(svg_string=document, zoom=_PNG_ZOOM))


def html(svg: Svg, title: str) -> str:
    """Returns a page with the picture and all it needs: no network, light or dark as the screen."""
    template = files(__package__).joinpath("page.html.j2").read_text()
    environment = jinja2.Environment(autoescape=True)
    return environment.from_string(template).render(title=title, svg=svg.document(title))
