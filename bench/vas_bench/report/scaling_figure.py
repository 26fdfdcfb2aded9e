"""A scaling as a figure, a table of its fits, and a finding."""

from __future__ import annotations

import math

from vas_bench.report.charts.curve import curve
from vas_bench.report.facts import SERIES
from vas_bench.report.figures import Figure, ReportTable
from vas_bench.report.scaling import Scaling
from vas_bench.report.summary import ReportFinding
from vas_bench.report.words import case_words
from vas_bench.results.systems import NAME_OF
from vas_bench.usl.fit import Fit
from vas_bench.usl.law import COEFFICIENTS, DERIVED
from vas_bench.usl.picture import through
from vas_core.svg import number_text

_ROWS = (*COEFFICIENTS, *DERIVED)


def scaling_words(scaling: Scaling) -> str:
    """Returns a scaling in words, like `terasort (size 1 GiB), VAS, 1 to 16 hosts`."""
    hosts = [point.p for point in scaling.points]
    reach = f"{min(hosts):g} to {max(hosts):g} hosts"
    name = NAME_OF.get(scaling.system, scaling.system)
    return f"{case_words(scaling.case)}, {name}, {reach}"


def scaling_finding(scaling: Scaling) -> ReportFinding:
    """Returns the diagnosis as a finding, with its evidence and the warnings about the figures."""
    found = scaling.diagnosis
    text = f"{scaling_words(scaling)}: {found.verdict}."
    return ReportFinding(text, (*found.evidence, *found.warnings))


def scaling_figure(scaling: Scaling, number: int) -> Figure:
    """Returns the figure of throughput by hosts: a point per run, the fitted law and its band."""
    title = f"Scaling: {scaling_words(scaling)}"
    fit = next((each for each in scaling.fits if isinstance(each, Fit)), None)
    drawn = through(scaling.points, fit, "hosts", scaling.unit, SERIES[scaling.system])
    rows = tuple(
        (run.id, f"{it.p:g}", number_text(it.throughput))
        for run, it in zip(scaling.runs, scaling.points, strict=True)
    )
    return Figure(
        f"scaling-{number:02d}-{scaling.case.workload}-{scaling.system}",
        title,
        _caption(fit),
        lambda width: curve(title, scaling_finding(scaling).text, drawn, width),
        ("run", "hosts", scaling.unit),
        rows,
    )


def _caption(fit: Fit | None) -> str:
    if fit is None:
        return "A point is a run. The law could not be fitted; the finding says why."
    return (
        f"A point is a run, the line the Universal Scalability Law ({fit.way} fit) with its 95 % "
        "band. Dashed: linear from one host on. Nothing is drawn beyond what was measured."
    )


def fits_table(scaling: Scaling) -> ReportTable:
    """Returns a table of coefficients and derived figures of every fit that was possible."""
    fits = [each for each in scaling.fits if isinstance(each, Fit)]
    rows = ((name.replace("_", " "), *(_cell(fit, name) for fit in fits)) for name in _ROWS)
    kept = tuple(row for row in rows if any(cell != "-" for cell in row[1:]))
    title = "Fits: value, 95 % interval (* extrapolated: beyond what was measured)"
    return ReportTable(title, ("", *(str(fit.way) for fit in fits)), kept)


def _cell(fit: Fit, name: str) -> str:
    value = getattr(fit.law, name)
    if value is None:
        return "-"
    text = f"{value:.4g}{' *' if name in fit.unseen() else ''}"
    interval = fit.interval(name)
    return f"{text}\n{' to '.join(map(_end, interval))}" if interval else text


def _end(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "no end"
