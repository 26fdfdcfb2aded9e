"""Draws jobs' times by phase: each phase begins where the one before it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from vas_bench.report.charts.marks import Bar, Chart, Mark, Text, fitted, text_width
from vas_bench.report.charts.scale import tenths, x_axis
from vas_bench.results.record import UNACCOUNTED
from vas_core.svg import LinearScale, from_zero

_TITLE_PX = 24
_PHASE_PX = 20
_GAP_PX = 10
_AXIS_PX = 44
_LEAST_BAR_PX = 1.5


@dataclass(frozen=True)
class WaterfallJob:
    """An arm: its colour's number, its phases in order in seconds, and its time in words."""

    name: str
    series: int
    words: str
    phases: Mapping[str, float]


def waterfall(title: str, description: str, jobs: Sequence[WaterfallJob], width: float) -> Chart:
    """Draws the chart: jobs one below the other on one axis of seconds."""
    names = {name for job in jobs for name in job.phases}
    left = min(max(map(text_width, names)), 0.36 * width) + _GAP_PX
    values = [tenths(seconds) for job in jobs for seconds in job.phases.values()]
    right = width - max(map(text_width, values)) - _GAP_PX
    scale = from_zero(max(sum(job.phases.values()) for job in jobs), left, right)
    tops = list(accumulate((_height(job) for job in jobs), initial=0.0))
    marks = [*x_axis(scale, 4, tops[-1], "seconds", width=width)]
    for job, top in zip(jobs, tops, strict=False):
        marks += _job(job, scale, top, width)
    return Chart(title, description, width, tops[-1] + _AXIS_PX, tuple(marks))


def _height(job: WaterfallJob) -> float:
    return _TITLE_PX + _PHASE_PX * len(job.phases) + _GAP_PX


def _job(job: WaterfallJob, scale: LinearScale, top: float, width: float) -> Iterator[Mark]:
    yield Text(0, top + 17, fitted(f"{job.name}: {job.words}", width), style="ink strong")
    starts = accumulate(job.phases.values(), initial=0.0)
    for number, (start, (name, seconds)) in enumerate(
        zip(starts, job.phases.items(), strict=False)
    ):
        y = top + _TITLE_PX + number * _PHASE_PX
        length = max(_LEAST_BAR_PX, scale(seconds) - scale(0))
        style = "open" if name == UNACCOUNTED else f"s{job.series}"
        yield Text(0, y + 14, fitted(name, scale.start - _GAP_PX), style="ink")
        yield Bar(scale(start), y + 4, length, 12, style)
        yield Text(width, y + 14, tenths(seconds), "end", "ink")
