"""The figures of a report: each a chart that can be drawn at any width, and the same as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from vas_bench.report.charts.intervals import Axis, IntervalRow, intervals
from vas_bench.report.charts.marks import Chart
from vas_bench.report.charts.scale import tenths
from vas_bench.report.charts.shares import ShareBar, ShareBlock, shares
from vas_bench.report.charts.waterfall import WaterfallJob, waterfall
from vas_bench.report.facts import SERIES, Comparison, ReportArm, better_of
from vas_bench.report.words import case_words, summary_words
from vas_bench.results.measures import measure_of
from vas_bench.results.record import HostLocality
from vas_bench.statistics.compare import ArmDifference
from vas_bench.statistics.gain import BetterDirection
from vas_core.svg import number_text

_MOST_HOSTS = 12


@dataclass(frozen=True)
class Figure:
    """A figure: its file's name, what it shows, how to draw it, and its numbers."""

    name: str
    title: str
    caption: str
    draw: Callable[[float], Chart]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ReportTable:
    """Rows under their columns' names; the first cell of a row names it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def figures_of(comparison: Comparison, number: int) -> Iterator[Figure]:
    """Yields the figures of a comparison. `number` sets their names apart from others'.

    Where no time is sure, as after one run each, what is counted comes first.
    """
    stem = f"{number:02d}-{comparison.case.workload}"
    times, counts = list(_of_times(comparison, stem)), list(_of_locality(comparison, stem))
    is_sure = any(arm.difference and arm.difference.significant for arm in comparison.arms)
    yield from (*times, *counts) if is_sure else (*counts, *times)


def _of_times(comparison: Comparison, stem: str) -> Iterator[Figure]:
    if any(arm.difference for arm in comparison.arms):
        yield _ratios(comparison, f"{stem}-ratio")
    yield _times(comparison, f"{stem}-time")
    with_phases = [arm for arm in comparison.arms if arm.phases]
    if with_phases:
        yield _phases(with_phases, comparison, f"{stem}-phases")


def _of_locality(comparison: Comparison, stem: str) -> Iterator[Figure]:
    with_hosts = [arm for arm in comparison.arms if arm.hosts]
    if with_hosts:
        yield _locality(with_hosts, comparison, f"{stem}-locality")
    counted = [arm for arm in comparison.arms if _sum_of(arm, "total_maps")]
    if counted and not with_hosts:
        yield _local_maps(counted, comparison, f"{stem}-local-maps")


def _ratios(comparison: Comparison, name: str) -> Figure:
    base = comparison.base.label
    title = f"{_heading(comparison.noun)}, over that of {base}: {case_words(comparison.case)}"
    found = [(arm, arm.difference) for arm in comparison.arms if arm.difference]
    rows = [
        IntervalRow(
            arm.label, SERIES[arm.system], d.ratio.value, d.ratio.low, d.ratio.high, _words(d)
        )
        for arm, d in found
    ]
    axis = Axis(f"{comparison.noun}, over that of {base}", 1.0, f"{base} = 1")
    told = "; ".join(f"{row.name} {row.words}" for row in rows)
    higher = better_of(comparison.measure) is BetterDirection.HIGHER
    side, word = ("Right", "better") if higher else ("Left", "faster")
    return Figure(
        name,
        title,
        f"Ratio of the medians and its 95 % interval. {side} of the line is {word} than {base}.",
        lambda width: intervals(title, told, rows, axis, width),
        ("system", "ratio", "95 % interval", "n", "p", "verdict"),
        tuple((arm.label, *_ratio_cells(each)) for arm, each in found),
    )


def _ratio_cells(found: ArmDifference) -> tuple[str, ...]:
    it = found.ratio
    return f"{it.value:.3f}", it.ends, str(it.n), f"{found.p:.3g}", found.verdict


def _words(found: ArmDifference) -> str:
    it = found.ratio
    interval = f"{it.low:.2f} to {it.high:.2f}, " if it.n > 1 else ""
    chance = "" if found.significant else ", not significant"
    return f"{it.value:.2f} ({interval}n={it.n}{chance})"


def _times(comparison: Comparison, name: str) -> Figure:
    title = f"{_heading(comparison.noun)}: {case_words(comparison.case)}"
    measure = comparison.measure
    unit = _unit(measure)
    rows = [_time(measure, arm) for arm in comparison.arms]
    told = "; ".join(f"{row.name} {row.words}" for row in rows)
    return Figure(
        name,
        title,
        "A point is a run, the bar their median, the line across it its 95 % interval.",
        lambda width: intervals(title, told, rows, Axis(_UNITS.get(unit, unit)), width),
        tuple(column.format(unit=unit).rstrip() for column in _TIME_COLUMNS),
        tuple(_time_cells(measure, arm) for arm in comparison.arms),
    )


_TIME_COLUMNS = (
    "system",
    "n",
    "median {unit}",
    "95 % interval",
    "mean {unit}",
    "95 % interval of the mean",
    "spread (CV)",
    "outliers",
    "runs in {unit}",
)


def _time_cells(measure: str, arm: ReportArm) -> tuple[str, ...]:
    job = arm.job
    return (
        arm.label,
        str(job.n),
        number_text(job.median),
        _ends(job.median_interval),
        number_text(job.mean),
        _ends(job.mean_interval),
        f"{100 * job.cv:.1f} %" if job.n > 1 else "-",
        ", ".join(map(number_text, job.outliers)) or "none",
        ", ".join(map(number_text, arm.group.values(measure))),
    )


_UNITS = {"s": "seconds"}


def _unit(measure: str) -> str:
    found = measure_of(measure)
    return found.unit if found else ""


def _heading(noun: str) -> str:
    return noun[0].upper() + noun[1:]


def _ends(interval: tuple[float, float] | None) -> str:
    return f"{number_text(interval[0])} to {number_text(interval[1])}" if interval else "-"


def _time(measure: str, arm: ReportArm) -> IntervalRow:
    job, runs = arm.job, tuple(arm.group.values(measure))
    low, high = job.median_interval or (job.median, job.median)
    words = summary_words(measure, job)
    return IntervalRow(arm.label, SERIES[arm.system], job.median, low, high, words, runs)


def _phases(arms: Sequence[ReportArm], comparison: Comparison, name: str) -> Figure:
    title = f"Where the time goes: {case_words(comparison.case)}"
    jobs = []
    for arm in arms:
        mean = sum(arm.phases.values())
        jobs.append(
            WaterfallJob(arm.label, SERIES[arm.system], f"mean {tenths(mean)} s", arm.phases)
        )
    phases = list(dict.fromkeys(phase for job in jobs for phase in job.phases))
    told = "; ".join(
        f"{job.name}: " + ", ".join(f"{p} {tenths(s)} s" for p, s in job.phases.items())
        for job in jobs
    )
    return Figure(
        name,
        title,
        "Mean seconds by phase (means add up to the job, medians do not). The open bar is the part "
        "of the job that no phase accounts for.",
        lambda width: waterfall(title, told, jobs, width),
        ("system", *phases),
        tuple((job.name, *(_phase(job, phase) for phase in phases)) for job in jobs),
    )


def _phase(job: WaterfallJob, phase: str) -> str:
    return f"{tenths(job.phases[phase])} s" if phase in job.phases else "-"


def _locality(arms: Sequence[ReportArm], comparison: Comparison, name: str) -> Figure:
    title = f"Locality by host: {case_words(comparison.case)}"
    blocks = [_block(arm) for arm in arms]
    told = "; ".join(
        f"{block.name}: " + ", ".join(f"{s.name} {s.words}" for s in block.shares)
        for block in blocks
    )
    rows = [(arm.label, host, *_counts(found)) for arm in arms for host, found in arm.hosts.items()]
    return Figure(
        name,
        title,
        "Map tasks that ran on a host which has their input, of all that ran on the host.",
        lambda width: shares(title, told, blocks, width),
        ("system", "host", "data-local", "rack-local", "other", "bytes from own host"),
        tuple(rows),
    )


def _local_maps(arms: Sequence[ReportArm], comparison: Comparison, name: str) -> Figure:
    title = f"Data-local maps: {case_words(comparison.case)}"
    found = [(arm, _sum_of(arm, "data_local_maps"), _sum_of(arm, "total_maps")) for arm in arms]
    words = [f"{local} of {whole}" for _, local, whole in found]
    blocks = [
        ShareBlock(arm.label, SERIES[arm.system], (ShareBar("maps", local / whole, text),))
        for (arm, local, whole), text in zip(found, words, strict=True)
    ]
    told = "; ".join(f"{arm.label} {text}" for arm, text in zip(arms, words, strict=True))
    return Figure(
        name,
        title,
        "Map tasks that ran on a host which has their input, of all map tasks.",
        lambda width: shares(title, told, blocks, width),
        ("system", "data-local", "of all"),
        tuple((arm.label, str(local), str(whole)) for arm, local, whole in found),
    )


def _sum_of(arm: ReportArm, measure: str) -> int:
    return int(sum(arm.group.values(measure)))


def _block(arm: ReportArm) -> ShareBlock:
    by_share = sorted(arm.hosts.items(), key=lambda item: _share(item[1]))
    left_out = len(by_share) - _MOST_HOSTS
    chosen = dict(by_share[:_MOST_HOSTS]) if left_out > 0 else arm.hosts
    more = f" (the {_MOST_HOSTS} lowest of {len(by_share)} hosts)" if left_out > 0 else ""
    bars = (ShareBar(host, _share(x), _local(x)) for host, x in chosen.items())
    return ShareBlock(f"{arm.label}{more}", SERIES[arm.system], tuple(bars))


def _maps(found: HostLocality) -> int:
    return found.data_local_maps + found.rack_local_maps + found.other_maps


def _share(found: HostLocality) -> float:
    return found.data_local_maps / max(1, _maps(found))


def _local(found: HostLocality) -> str:
    return f"{found.data_local_maps} of {_maps(found)}"


def _counts(found: HostLocality) -> tuple[str, ...]:
    share = 100 * found.local_input_bytes / found.input_bytes if found.input_bytes else None
    counts = (found.data_local_maps, found.rack_local_maps, found.other_maps)
    return (*map(str, counts), "-" if share is None else f"{share:.1f} %")
