"""Writes a picture as SVG, PNG, or HTML with tool tips, by the end of its file's name."""

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
    """Raises BadInput if the file's name does not end in .svg, .png or .html."""
    if path.suffix.lower() not in _KINDS:
        raise BadInput(
            "is not a name of a picture", where=str(path), hint="use .svg, .png or .html"
        )


def write_picture(svg: Svg, path: Path, title: str) -> None:
    """Writes a picture as SVG, PNG or HTML, by the end of the file's name.

    Raises BadInput for any other name, OSError if the file cannot be written.
    """
    check_name(path)
    kind = path.suffix.lower()
    if kind == ".svg":
        write_atomically(path, svg.document(title))
    elif kind == ".png":
        write_atomically(path, png(svg, title))
    else:
        write_atomically(path, html(svg, title))


def png(svg: Svg, title: str) -> bytes:
    """Returns a picture as PNG, in light colours, with two pixels for each of the drawing's."""
    return rendered(svg.document(title, dark=False))


def rendered(document: str) -> bytes:
    """Returns an SVG document as PNG at twice its size, drawn with the fonts of this machine."""
    return bytes(resvg_py.svg_to_bytes(svg_string=document, zoom=_PNG_ZOOM))


def html(svg: Svg, title: str) -> str:
    """Returns an HTML page that holds the picture and loads no other file.

    Its colours are light or dark as the reader's screen is.
    """
    template = files(__package__).joinpath("page.html.j2").read_text()
    environment = jinja2.Environment(autoescape=True)
    return environment.from_string(template).render(title=title, svg=svg.document(title))
