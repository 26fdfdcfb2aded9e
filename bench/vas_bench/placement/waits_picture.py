"""Draws what waiting costs or gains by the cost of a task elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vas_bench.placement.waits import WaitCost
from vas_core.errors import BadInput
from vas_core.files import check_writable
from vas_core.svg import PALETTE, LinearScale, Svg, check_name, number_text

_WIDTH, _LEFT, _RIGHT = 960.0, 60.0, 640.0
_TOP, _BOTTOM = 72.0, 440.0
_LEGEND_ROW = 20.0
_MOST_CURVES = 18


def check_picture(path: Path, extras: Sequence[int]) -> None:
    """Raises BadInput if the file cannot be written, or fewer than two costs are to be drawn."""
    check_name(path)
    if len(set(extras)) < 2:
        raise BadInput("a picture needs two costs", where="--svg", hint="repeat --remote-extra")
    check_writable(path)


def draw_waits(costs: Sequence[WaitCost]) -> Svg:
    """Draws a curve for each job at the longest of the waits: its time by that without a wait.

    Of more jobs than have room, the first ones are drawn.
    """
    longest = max(it.node_wait_seconds for it in costs)
    drawn = [it for it in costs if it.node_wait_seconds == longest]
    jobs = [*dict.fromkeys(it.job for it in drawn)][:_MOST_CURVES]
    ratios = [it.time_ratio for it in drawn]
    up = LinearScale(min(0.9, *ratios), max(1.1, *ratios), _BOTTOM, _TOP)
    across = LinearScale(0, max(it.remote_extra_percent for it in drawn), _LEFT, _RIGHT)
    svg = Svg(_WIDTH)
    svg.height = max(_BOTTOM + 60, _TOP + 20 + len(jobs) * _LEGEND_ROW)
    svg.text(16, 26, f"Waiting {longest:g} s for the host of the data (simulated)", size=15)
    svg.text(16, 46, "job time by that without waiting: below 1 it pays", kind="muted")
    _axes(svg, across, up)
    for number, job in enumerate(jobs):
        colour = PALETTE[number % len(PALETTE)]
        dashes = {} if number < len(PALETTE) else {"stroke_dasharray": "6 3"}
        line = [it for it in drawn if it.job == job]
        places = [f"{across(it.remote_extra_percent):.1f} {up(it.time_ratio):.1f}" for it in line]
        svg.path("M" + "L".join(places), colour, 2, **dashes)
        y = _TOP + 10 + number * _LEGEND_ROW
        svg.path(f"M{_RIGHT + 20:g} {y:g}h30", colour, 2, **dashes)
        svg.text(_RIGHT + 58, y + 4, str(job))
    return svg


def _axes(svg: Svg, across: LinearScale, up: LinearScale) -> None:
    for tick in up.ticks(8):
        svg.path(f"M{_LEFT:g} {up(tick):.1f}H{_RIGHT:g}", "rule", 1)
        svg.text(_LEFT - 8, up(tick) + 4, number_text(tick), size=11, anchor="end", kind="muted")
    svg.path(f"M{_LEFT:g} {up(1):.1f}H{_RIGHT:g}", "line", 2)
    for tick in across.ticks(8):
        svg.path(f"M{across(tick):.1f} {_BOTTOM:g}v5", "line", 1)
        svg.text(across(tick), _BOTTOM + 20, f"+{tick:g} %", size=11, anchor="middle", kind="muted")
    svg.path(f"M{_LEFT:g} {_TOP:g}V{_BOTTOM:g}H{_RIGHT:g}", "line", 1)
    svg.text(
        (_LEFT + _RIGHT) / 2, _BOTTOM + 44, "what a task takes longer elsewhere", anchor="middle"
    )
