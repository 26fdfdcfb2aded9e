"""The command `vas bench usl`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, get_args

import click

from vas_bench.csvfile import read_table
from vas_bench.options import read_runs, skip_damaged_option
from vas_bench.report.page import WIDE_PX, svg
from vas_bench.report.scaling import scalings
from vas_bench.report.scaling_figure import scaling_words
from vas_bench.results.groups import grouped
from vas_bench.usl.diagnosis import UslDiagnosis, diagnose
from vas_bench.usl.fit import RESAMPLES, Fit, LeftOut, fit_all
from vas_bench.usl.law import COEFFICIENTS, DERIVED, Law
from vas_bench.usl.picture import picture, shown_fit
from vas_bench.usl.points import ScalingPoint, points_of
from vas_core.cli import json_option, note, print_json
from vas_core.errors import BadInput, ExitStatus
from vas_core.files import write_atomically
from vas_core.table import print_table
from vas_yarn.jobs.systems import System

_FIGURES = (*COEFFICIENTS, *DERIVED, "most_efficient", "best_efficiency")


@click.command()
@click.argument(
    "file", required=False, type=click.Path(path_type=Path, allow_dash=True, dir_okay=False)
)
@click.option(
    "--from-coefficients",
    "coefficients",
    metavar="SIGMA,KAPPA[,GAMMA]",
    help="Coefficients to describe; nothing is fitted.",
)
@click.option("--workload", help="Workload, if the file of results holds several.")
@click.option(
    "--system",
    type=click.Choice(get_args(System)),
    help="System, if the file of results holds several.",
)
@click.option(
    "--svg",
    "picture_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw runs, curve and band into this file.",
)
@skip_damaged_option
@json_option
def usl(
    file: Path | None,
    coefficients: str | None,
    workload: str | None,
    system: str | None,
    picture_file: Path | None,
    skip_damaged: bool,
    as_json: bool,
) -> int:
    """Fit the Universal Scalability Law, and say what it hides.

    FILE is CSV (`-` is stdin) with columns p and throughput (or seconds), a line a run, and
    failed_reduces and retries if they were counted; or a file of results (.jsonl) with
    runs on several counts of hosts. Three fits: throughput of one node as
    measured; free; free without the runs on one node. Status 1 if none can be made.

    \b
    Examples: vas bench usl runs.csv
              vas bench usl results.jsonl --system vas --svg usl.svg --json
              vas bench usl --from-coefficients -0.0288,0.000447

    \f
    Raises BadInput for columns and options that do not go together.
    """
    if coefficients is not None and file is None:
        _given(_parsed(coefficients), as_json)
        return ExitStatus.DONE
    if coefficients is None and file is not None:
        measured = _read(file, workload, system, skip_damaged)
        fits = _fitted(*measured, as_json, picture_file)
        return ExitStatus.DONE if any(isinstance(it, Fit) for it in fits) else ExitStatus.FAILED
    raise BadInput("give a FILE or --from-coefficients", hint="see `vas bench usl --help`")


def _read(
    file: Path, workload: str | None, system: str | None, skip_damaged: bool
) -> tuple[Sequence[ScalingPoint], str]:
    """The runs, and the unit of their throughput."""
    if file.suffix != ".jsonl":
        return points_of(read_table(file)), "throughput"
    found = [
        it
        for it in scalings(grouped(read_runs(file, skip_damaged)))
        if workload in (None, it.case.workload) and system in (None, it.system)
    ]
    if not found:
        hint = "run one workload on three counts of hosts or more, with nothing else changed"
        raise BadInput("holds no runs that differ in their hosts alone", where=str(file), hint=hint)
    if len(found) > 1:
        text = f"holds {len(found)}: {'; '.join(map(scaling_words, found))}"
        raise BadInput(text, where=str(file), hint="choose with --workload and --system")
    return found[0].points, found[0].unit


def _given(law: Law, as_json: bool) -> None:
    if as_json:
        print_json({"fits": [{"name": "given"} | _figures(law)], "diagnosis": _of(law)})
        return
    rows = [(name.replace("_", " "), _number(value)) for name, value in _figures(law).items()]
    print_table(("", "given"), rows)
    note(_of(law))


def _of(law: Law) -> str:
    if law.pole is not None:
        return f"no law: it has no value at p = {law.pole:.3g} (a pole)"
    if law.crossover is not None:
        return f"superlinear up to p = {law.crossover:.3g}: suspect that the baseline is stretched"
    return "sublinear" if law.sigma > 0 or law.kappa > 0 else "linear"


def _fitted(
    points: Sequence[ScalingPoint], unit: str, as_json: bool, picture_file: Path | None
) -> Sequence[Fit | LeftOut]:
    fits = fit_all(points)
    found = diagnose(points, fits)
    drawn = shown_fit(fits, found)
    if picture_file and drawn:
        chart = picture(points, drawn, found, unit, WIDE_PX)
        write_atomically(picture_file, svg(chart, picture_file.stem))
    elif picture_file:
        note(f"{picture_file} is not written: no fit could be made")
    if as_json:
        print_json(as_json_document(fits, found))
    else:
        _print(fits, found)
    return fits


def _print(fits: Sequence[Fit | LeftOut], found: UslDiagnosis) -> None:
    made = [fit for fit in fits if isinstance(fit, Fit)]
    if made:
        print_table(("", *(fit.way for fit in made)), _rows(made))
        click.echo()
    click.echo(found.verdict)
    for line in found.evidence:
        click.echo(f"  {line}")
    for line in found.warnings:
        note(line)


def as_json_document(fits: Sequence[Fit | LeftOut], found: UslDiagnosis) -> dict[str, Any]:
    """Returns what `vas bench usl --json` prints."""
    return {
        "fits": [_fit(fit) for fit in fits if isinstance(fit, Fit)],
        "left_out": [{"name": it.way, "why": it.why} for it in fits if isinstance(it, LeftOut)],
        "diagnosis": found.verdict,
        "evidence": found.evidence,
        "warnings": found.warnings,
        "methods": {
            "fit": "least squares of throughput, sigma unbounded, kappa of 0 or more",
            "intervals": f"95 %, percentile bootstrap of residuals, {RESAMPLES} resamples, seed 1",
        },
    }


def _fit(fit: Fit) -> dict[str, Any]:
    intervals = {name: fit.interval(name) for name in (*COEFFICIENTS, *DERIVED)}
    ends = {name: [_finite(end) for end in it] for name, it in intervals.items() if it}
    measured = {"n": fit.n, "rmse": fit.rmse, "p_min": fit.smallest, "p_max": fit.largest}
    derived = {"extrapolated": fit.unseen(), "intervals": ends}
    return {"name": fit.way} | _figures(fit.law) | measured | derived


def _figures(law: Law) -> dict[str, float | None]:
    return {name: getattr(law, name) for name in _FIGURES}


def _rows(fits: Sequence[Fit]) -> list[tuple[str, ...]]:
    rows = [(name.replace("_", " "), *(_cell(fit, name) for fit in fits)) for name in _FIGURES]
    return [row for row in rows if any(row[1:])]


def _cell(fit: Fit, name: str) -> str:
    text = _number(getattr(fit.law, name))
    ends = fit.interval(name) if name in (*COEFFICIENTS, *DERIVED) else None
    if ends:
        text += f" ({' to '.join(_number(_finite(end)) or 'no end' for end in ends)})"
    return f"{text} *" if name in fit.unseen() else text


def _finite(end: float) -> float | None:
    return end if isfinite(end) else None


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _parsed(text: str) -> Law:
    try:
        sigma, kappa, *gamma = (float(part) for part in text.split(","))
        law = Law(sigma, kappa, *gamma)
    except (ValueError, TypeError):
        law = Law(0, -1)
    if law.kappa < 0 or law.gamma <= 0 or not all(map(isfinite, (law.sigma, law.kappa, law.gamma))):
        hint = "two or three numbers, kappa of 0 or more, gamma above 0: -0.0288,0.000447"
        raise BadInput("are not coefficients", where=f"--from-coefficients {text}", hint=hint)
    return law
