"""Draws pictures as SVG, and writes them as SVG, PNG or HTML files.

`drawing` has the shapes, `theme` the colours, `text` the widths of texts, `scale` the axes and
`picture` the files.
"""

from vas_core.svg.drawing import Svg
from vas_core.svg.picture import check_name, html, png, rendered, write_picture
from vas_core.svg.scale import LinearScale, LogScale, from_zero, number_text, round_up
from vas_core.svg.text import fitted, text_width
from vas_core.svg.theme import PALETTE, THEME, Theme

__all__ = [
    "PALETTE",
    "THEME",
    "LinearScale",
    "LogScale",
    "Svg",
    "Theme",
    "check_name",
    "fitted",
    "from_zero",
    "html",
    "number_text",
    "png",
    "rendered",
    "round_up",
    "text_width",
    "write_picture",
]
