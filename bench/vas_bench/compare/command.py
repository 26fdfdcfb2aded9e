"""The command `vas bench compare`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_bench.compare.sets import Result, compare_sets
from vas_bench.options import read_runs, results_path, skip_damaged_option
from vas_bench.results.measures import JOB_SECONDS
from vas_core.cli import json_option, note, print_json
from vas_core.errors import FoundDifferent
from vas_core.table import print_table


@click.command()
@click.argument("a", type=results_path)
@click.argument("b", type=results_path)
@click.option("--measure", default=JOB_SECONDS, show_default=True, help="Compared measure.")
@click.option(
    "--threshold",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="A loss below this share (0.05 is 5 %) is not a failure.",
)
@skip_damaged_option
@json_option
def compare(
    a: Path, b: Path, measure: str, threshold: float, skip_damaged: bool, as_json: bool
) -> None:
    """Hold results B against results A; status 3 if worse.

    Experiments of the same workload, parameters and system are held against one another. One of B
    is worse if it is significantly so, with Holm's correction for all of them, and by the threshold
    at least; or if it counts in A and all its runs in B are INVALID.

    \b
    Examples: vas bench compare before.jsonl after.jsonl
              vas bench compare before.jsonl after.jsonl --measure cpu_seconds --threshold 0.05

    \f
    Raises FoundDifferent where B is worse.
    """
    found = compare_sets(read_runs(a, skip_damaged), read_runs(b, skip_damaged), measure, threshold)
    if as_json:
        print_json(found.as_json())
    else:
        _print(found)
    worse = [f"{found.measure} became worse: {change.name}" for change in found.worse]
    worse += [f"INVALID in B: {each.name}" for each in found.broken]
    if worse:
        raise FoundDifferent("; ".join(worse))


def _print(found: Result) -> None:
    rows = (
        (
            change.name,
            f"{change.difference.ratio.value:.3f}",
            change.difference.ratio.ends,
            change.verdict,
        )
        for change in found.changes
    )
    print_table((f"{found.measure}, B / A", "RATIO", "95 % INTERVAL", "VERDICT"), rows)
    for change in found.changes:
        if change.differing:
            note(f"{change.name}: not the same in both: {'; '.join(change.differing)}")
    if found.undecidable:
        enough = max(change.difference.enough_runs for change in found.undecidable)
        text = f"{len(found.undecidable)} of {len(found.changes)} cannot be judged"
        note(f"{text}: run {enough} of each")
    for missing in found.missing:
        note(f"{missing.name}: {missing.words}")
    for name in found.without_ratio:
        note(f"{name}: {found.measure} is 0 in A, which has no ratio: not judged")
