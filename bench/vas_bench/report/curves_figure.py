"""Figures of what a run did by time: one for each counter that has curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vas_bench.report.charts.over_time import RateLine, over_time
from vas_bench.report.facts import SERIES, Comparison, ReportArm
from vas_bench.report.figures import Figure
from vas_bench.report.words import case_words
from vas_bench.results.measures import JOB_SECONDS, measure_of
from vas_bench.results.record import BenchRun
from vas_core.svg import number_text

_MIB = 1 << 20


def curve_figures(comparison: Comparison, number: int) -> Iterator[Figure]:
    """Yields the figures of a comparison. `number` sets their names apart from others'."""
    middle = [(arm, run) for arm in comparison.arms if (run := _middle(arm))]
    names = sorted({name for _, run in middle for name in run.curves})
    for name in names:
        is_bytes = (found := measure_of(name)) is not None and found.unit == "B"
        lines = [
            RateLine(arm.label, SERIES[arm.system], _scaled(run.curves[name], is_bytes))
            for arm, run in middle
            if name in run.curves
        ]
        of = name.replace("_", " ").replace("/", ", ")
        stem = f"{number:02d}-{comparison.case.workload}-{name.replace('/', '-').replace(' ', '-')}"
        title = f"{of.capitalize()} by time: {case_words(comparison.case)}"
        yield _figure(stem, title, lines, "MiB/s" if is_bytes else "1/s")


def _middle(arm: ReportArm) -> BenchRun | None:
    """The run whose job time is the median, the lower of two; None where none has curves."""
    runs = sorted(
        (run for run in arm.group.runs if run.curves), key=lambda run: run.measures[JOB_SECONDS]
    )
    return runs[(len(runs) - 1) // 2] if runs else None


def _scaled(points: Sequence[tuple[float, float]], is_bytes: bool) -> list[tuple[float, float]]:
    return [(at, so_far / _MIB if is_bytes else so_far) for at, so_far in points]


def _figure(name: str, title: str, lines: Sequence[RateLine], unit: str) -> Figure:
    told = "; ".join(f"{line.name} at most {number_text(line.peak)} {unit}" for line in lines)
    return Figure(
        name,
        title,
        "One run of each system, that with the median job time; a step is about a second.",
        lambda width: over_time(title, told, lines, unit, width),
        ("system", f"most {unit}", "all", "seconds"),
        tuple(
            (
                line.name,
                number_text(line.peak),
                number_text(line.points[-1][1]),
                number_text(line.points[-1][0]),
            )
            for line in lines
        ),
    )
