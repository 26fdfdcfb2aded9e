"""The command `vas bench stats`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from vas_bench.csvfile import read_table
from vas_bench.statistics.bootstrap import Interval
from vas_bench.statistics.compare import ArmDifference, compare
from vas_bench.statistics.gain import BetterDirection
from vas_bench.statistics.samples import is_results, read_samples, samples_of
from vas_bench.statistics.summary import Summary, summary
from vas_core.cli import json_option, note, print_json
from vas_core.errors import BadInput
from vas_core.table import print_table

_METHODS = {
    "ratio": "of medians; paired: median of the rounds' ratios",
    "interval": "95 %, percentile bootstrap of 2000 resamples, seed 1; of the mean Student's t",
    "p": "Mann-Whitney U, two-sided, Holm-corrected; paired: Wilcoxon signed-rank",
    "mean_p": "Welch's t, uncorrected; paired: Student's t",
    "outliers": "more than 3 interquartile ranges outside the quartiles; none is removed",
}


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True, dir_okay=False))
@click.option("--base", help="The arm the others are compared with [default: the first].")
@click.option(
    "--better",
    type=click.Choice([better.value for better in BetterDirection]),
    default=BetterDirection.LOWER.value,
    show_default=True,
    help="Values are times (lower) or throughputs (higher).",
)
@click.option("--measure", help="Measure of a file of results [default: job_seconds, mostly].")
@click.option("--what", help="Name of the values, like `bytes written`.")
@click.option("--paired", is_flag=True, help="Compare within rounds: a line, or a column `round`.")
@json_option
def stats(
    file: Path,
    base: str | None,
    better: str,
    measure: str | None,
    what: str | None,
    paired: bool,
    as_json: bool,
) -> None:
    """Say whether arms differ, by how much, and how sure.

    FILE is what `vas bench run` writes, of one workload, or CSV (`-` is stdin): columns arm,value,
    or a column of values for each arm.

    \b
    Examples: vas bench stats times.csv --base stock
              vas bench stats night.jsonl --base yarn-lustre-hosts --paired
              vas bench stats rates.csv --better higher --json
              printf 'HT on,HT off\\n4656.7,4165\\n3822.1,3991.7\\n' | vas bench stats -

    \f
    Raises BadInput for a base that did not run.
    """
    if is_results(file):
        arms = read_samples(file, measure=measure, paired=paired)
    elif measure:
        hint = "leave it out: a table has one measure"
        raise BadInput("is for a file of results", where="--measure", hint=hint)
    else:
        arms = samples_of(read_table(file), paired=paired)
    chosen = base or next(iter(arms))
    if chosen not in arms:
        raise BadInput("is not an arm", where=f"--base {chosen}", hint=f"one of {', '.join(arms)}")
    summaries = {arm: summary(values) for arm, values in arms.items()}
    found = compare(arms, chosen, BetterDirection(better), what=what, paired=paired)
    if as_json:
        print_json(_as_json(chosen, summaries, found))
    else:
        _print(summaries, found)


def _as_json(
    base: str, summaries: Mapping[str, Summary], found: Sequence[ArmDifference]
) -> dict[str, Any]:
    return {
        "base": base,
        "arms": [{"arm": arm, **asdict(it), "cv": it.cv} for arm, it in summaries.items()],
        "comparisons": [it.as_json() for it in found],
        "methods": _METHODS,
    }


def _print(summaries: Mapping[str, Summary], found: Sequence[ArmDifference]) -> None:
    columns = ("ARM", "N", "MEDIAN", "95 % INTERVAL", "MEAN", "95 % INTERVAL", "SD", "CV", "IQR")
    print_table((*columns, "OUTLIERS"), _rows(summaries))
    click.echo()
    rows = [
        (it.pair.arm, f"{it.ratio.value:.3f}", _ends(it.ratio.interval), it.verdict) for it in found
    ]
    print_table(("ARM", f"/ {found[0].pair.base}", "95 % INTERVAL", "VERDICT"), rows)
    if any(it.outliers for it in summaries.values()):
        note("outliers are flagged, not removed: look for what happened in those runs")


def _rows(summaries: Mapping[str, Summary]) -> Iterator[tuple[object, ...]]:
    for arm, it in summaries.items():
        median = (_number(it.median), _ends(it.median_interval))
        mean = (_number(it.mean), _ends(it.mean_interval))
        spread = (_number(it.sd), f"{100 * it.cv:.1f}%", _number(it.iqr))
        yield (arm, it.n, *median, *mean, *spread, " ".join(map(_number, it.outliers)))


def _ends(interval: Interval | None) -> str:
    return " to ".join(_number(end) for end in interval) if interval else ""


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"
