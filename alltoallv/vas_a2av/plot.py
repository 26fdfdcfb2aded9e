"""Draws the time of a call by block size, a curve for each algorithm and radix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.files import check_writable
from vas_core.sizes import format_size
from vas_core.svg import PALETTE, LogScale, Svg, number_text

_WIDTH, _HEIGHT, _LEFT, _TOP = 960.0, 540.0, 78.0, 72.0
_RIGHT, _BOTTOM = 740.0, 460.0  # of the axes; the legend is on the right
_LEGEND_ROW = 22.0
# Curves beyond the colours are told apart by their dashes.
_DASHES = ("", "9 4", "2 4")
_MARGIN = 1.25


@dataclass(frozen=True)
class TimeCurve:
    """The seconds of a call by the size of the largest block in bytes, by growing size."""

    name: str
    points: tuple[tuple[int, float], ...]


def check_plot(path: Path, sizes: Sequence[int]) -> None:
    """Raises BadInput if the file cannot be written, or these sizes cannot be drawn."""
    if path.suffix.lower() != ".svg":
        raise BadInput("is not a name of an SVG file", where=str(path), hint="use .svg")
    if len(sizes) < 2 or 0 in sizes:
        what = "a plot needs two sizes or more, all above zero"
        raise BadInput(what, where="a2av bench", hint="repeat --size, or leave it out")
    check_writable(path)


def draw_times(title: str, subtitle: str, curves: Sequence[TimeCurve]) -> Svg:
    """Draws the curves on two axes with logarithmic scales.

    There must be two sizes at least, and all sizes and seconds above zero.
    """
    svg = Svg(_WIDTH)
    svg.height = _HEIGHT
    svg.text(16, 26, title, size=15, bold=True)
    svg.text(16, 46, subtitle, size=12, kind="muted")
    sizes = sorted({size for curve in curves for size, _ in curve.points})
    micros = [seconds * 1e6 for curve in curves for _, seconds in curve.points]
    across = LogScale(sizes[0], sizes[-1], _LEFT, _RIGHT)
    up = LogScale(min(micros) / _MARGIN, max(micros) * _MARGIN, _BOTTOM, _TOP)
    _axes(svg, across, up, sizes)
    for number, curve in enumerate(curves):
        _curve(svg, curve, number, across, up)
    return svg


def _axes(svg: Svg, across: LogScale, up: LogScale, sizes: Sequence[int]) -> None:
    svg.path(f"M{_LEFT:g} {_TOP:g}V{_BOTTOM:g}H{_RIGHT:g}", "line", 1)
    for value in up.decades() or [up.low, up.high]:
        y = up(value)
        svg.path(f"M{_LEFT:g} {y:g}H{_RIGHT:g}", "rule", 1)
        svg.text(_LEFT - 8, y + 4, number_text(value), size=11, anchor="end", kind="muted")
    for size in sizes[:: len(sizes) // 12 + 1]:
        x = across(size)
        svg.path(f"M{x:g} {_BOTTOM:g}v5", "line", 1)
        label = format_size(size).replace(" ", "")
        svg.text(x, _BOTTOM + 20, label, size=11, anchor="middle", kind="muted")
    middle = (_LEFT + _RIGHT) / 2
    svg.text(middle, _BOTTOM + 46, "largest block, bytes (log scale)", anchor="middle")
    svg.text(16, _TOP - 8, "time of a call, us (log scale)")


def _curve(svg: Svg, curve: TimeCurve, number: int, across: LogScale, up: LogScale) -> None:
    colour = PALETTE[number % len(PALETTE)]
    dashes = _DASHES[number // len(PALETTE) % len(_DASHES)]
    style = {"stroke_dasharray": dashes} if dashes else {}
    places = [(across(size), up(seconds * 1e6)) for size, seconds in curve.points]
    with svg.group(curve.name, class_="curve", data_key=curve.name):
        svg.path("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places), colour, 2, **style)
        for (x, y), (size, seconds) in zip(places, curve.points, strict=True):
            with svg.group(f"{curve.name}, {format_size(size)}: {seconds * 1e6:.1f} us"):
                svg.dot(x, y, 3, colour)
        y = _TOP + 10 + number * _LEGEND_ROW
        svg.path(f"M{_RIGHT + 20:g} {y:g}h30", colour, 2, **style)
        svg.text(_RIGHT + 58, y + 4, curve.name)
