"""Makes a report's page from its facts; writes it as HTML, and its figures as SVG and PNG."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from vas_bench.report.charts.marks import Chart, fitted
from vas_bench.report.curves_figure import curve_figures
from vas_bench.report.facts import Comparison, ReportArm, ReportFacts
from vas_bench.report.figures import Figure, ReportTable, figures_of
from vas_bench.report.scaling import Scaling
from vas_bench.report.scaling_figure import (
    fits_table,
    scaling_figure,
    scaling_finding,
    scaling_words,
)
from vas_bench.report.summary import ReportFinding, findings, left_out
from vas_bench.report.words import case_words, interval_words, value_words
from vas_bench.results.measures import measure_of
from vas_bench.results.record import BenchRun
from vas_bench.results.store import embed
from vas_bench.results.systems import NAME_OF, SYSTEMS
from vas_core.files import write_atomically
from vas_core.shown import counted
from vas_core.svg import rendered

NARROW_PX, WIDE_PX = 336, 760
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_SHORT_HASH = 12
_MINUTE = "%Y-%m-%d %H:%M"


@dataclass(frozen=True)
class Section:
    """A part of the page under one heading."""

    title: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[ReportTable, ...] = ()


@dataclass(frozen=True)
class Page:
    """Everything that the template gets. `commands` are the command lines that made the runs."""

    title: str
    about: str
    summary: tuple[ReportFinding, ...]
    notes: tuple[str, ...]
    sections: tuple[Section, ...]
    commands: tuple[str, ...]
    origins: tuple[ReportTable, ...]
    run_count: int
    data: Markup

    @property
    def figures(self) -> Iterator[Figure]:
        """Yields the figures of all sections, in order."""
        for section in self.sections:
            yield from section.figures


def page_of(facts: ReportFacts, title: str, notes: Sequence[str] = ()) -> Page:
    """Returns the page of a report's facts; `notes` stand below its summary."""
    sections = [_comparison(each, n) for n, each in enumerate(facts.compared, 1)]
    sections += [_scaling(each, n) for n, each in enumerate(facts.scalings, 1)]
    if facts.invalid:
        sections.append(_invalid(facts.invalid))
    first, *_, last = sorted([run.time for run in facts.runs] * 2)
    return Page(
        title=title,
        about=f"{counted(len(facts.runs), 'run')}, {first:{_MINUTE}} to {last:{_MINUTE}} UTC",
        summary=all_findings(facts),
        notes=tuple(notes),
        sections=tuple(sections),
        commands=tuple(dict.fromkeys(run.command for run in facts.runs if run.command)),
        origins=(_systems(facts), _experiments(facts), *_versions(facts), *_environments(facts)),
        run_count=len(facts.runs),
        # Escaped by `embed`, in the way that a script element needs.
        data=Markup(embed(facts.runs)),  # noqa: S704
    )


def all_findings(facts: ReportFacts) -> tuple[ReportFinding, ...]:
    """Returns the findings of comparisons, of scalings, and of the runs left out."""
    return (*findings(facts), *map(scaling_finding, facts.scalings), *left_out(facts))


def _comparison(comparison: Comparison, number: int) -> Section:
    figures = (*figures_of(comparison, number), *curve_figures(comparison, number))
    return Section(case_words(comparison.case), figures, (_measures(comparison),))


def _scaling(scaling: Scaling, number: int) -> Section:
    figure, fits = scaling_figure(scaling, number), fits_table(scaling)
    tables = (fits,) if len(fits.columns) > 1 else ()
    return Section(scaling_words(scaling), (figure,), tables)


def _measures(comparison: Comparison) -> ReportTable:
    rows = (
        (_measure_words(name), *(_cell(arm, name) for arm in comparison.arms))
        for name in comparison.measures
    )
    columns = ("measure", *(f"{arm.label}\n{counted(arm.job.n, 'run')}" for arm in comparison.arms))
    return ReportTable("All measures: median, and 95 % interval", columns, tuple(rows))


def _cell(arm: ReportArm, name: str) -> str:
    found = arm.summary(name)
    if found is None:
        return "-"
    runs = "" if found.n == arm.job.n else f" (n={found.n})"
    value = f"{value_words(name, found.median)}{runs}"
    interval = found.median_interval
    return f"{value}\n{interval_words(name, interval)}" if interval else value


def _measure_words(name: str) -> str:
    found = measure_of(name)
    better = f"\n{found.better} is better" if found and found.better != "neither" else ""
    return f"{name.replace('_', ' ')}{better}"


def _invalid(runs: Sequence[BenchRun]) -> Section:
    rows = tuple(
        (run.id, f"{run.time:%Y-%m-%d %H:%M:%S}", run.workload, run.system, run.invalid or "")
        for run in runs
    )
    table = ReportTable("INVALID runs", ("run", "time (UTC)", "workload", "system", "why"), rows)
    return Section("Runs that were not counted", (), (table,))


def _systems(facts: ReportFacts) -> ReportTable:
    ran = {run.system for run in facts.runs}
    rows = tuple(
        (name, NAME_OF.get(name, "-"), words) for name, words in SYSTEMS.items() if name in ran
    )
    return ReportTable("The systems", ("system", "as the demo calls it", "what it is"), rows)


def _experiments(facts: ReportFacts) -> ReportTable:
    rows = tuple(
        (
            f"{case_words(group.case)}, {group.system}",
            str(len(group.runs)),
            group.configuration_hash[:_SHORT_HASH],
            group.environment_fingerprint[:_SHORT_HASH],
        )
        for group in facts.groups
    )
    columns = ("experiment", "runs", "configuration", "environment")
    return ReportTable("What ran", columns, rows)


def _versions(facts: ReportFacts) -> Iterator[ReportTable]:
    found: dict[str, set[str]] = {}
    for run in facts.runs:
        for name, version in run.versions.items():
            found.setdefault(name, set()).add(version)
    rows = tuple((name, ", ".join(sorted(each))) for name, each in sorted(found.items()))
    if rows:
        yield ReportTable("Versions", ("of", "version"), rows)


def _environments(facts: ReportFacts) -> Iterator[ReportTable]:
    found = {run.environment_fingerprint: run.environment for run in facts.runs}
    for fingerprint, environment in found.items():
        rows = tuple((name, str(value)) for name, value in sorted(environment.items()))
        if rows:
            yield ReportTable(f"Environment {fingerprint[:_SHORT_HASH]}", ("fact", "value"), rows)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("vas_bench.report"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )


def _style(name: str) -> Markup:
    source, _, _ = _templates().loader.get_source(_templates(), name)  # type: ignore[union-attr]
    return Markup(source)  # noqa: S704 (the package's own)


def html(page: Page) -> str:
    """Returns the page as HTML that refers to nothing outside itself."""
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            page=page,
            narrow=NARROW_PX,
            wide=WIDE_PX,
            page_css=_style("page.css"),
            chart_css=_style("chart.css"),
        )
    )


def svg(chart: Chart, name: str) -> str:
    """Returns a chart as the text of an SVG file of its own."""
    module = _templates().get_template("chart.svg.j2").module
    title = fitted(chart.title, chart.width)
    return str(module.drawn(chart, name, style=_style("chart.css"), heading=title)) + "\n"  # type: ignore[attr-defined]


def write_figures(page: Page, directory: Path) -> list[Path]:
    """Writes every figure twice into a directory, which is made if need be; returns the paths.

    Raises OSError where they cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in page.figures:
        name = _NOT_IN_NAMES.sub("-", figure.name)
        drawn = svg(figure.draw(WIDE_PX), name)
        for suffix, content in ((".svg", drawn), (".png", rendered(drawn))):
            path = directory / f"{name}{suffix}"
            write_atomically(path, content)
            written.append(path)
    return written
