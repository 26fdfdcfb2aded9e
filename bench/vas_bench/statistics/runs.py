"""Samples by system, from a file of results as `vas bench run` writes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from vas_bench.results.groups import BenchCase, grouped
from vas_bench.results.measures import primary_of
from vas_bench.results.record import BenchRun
from vas_bench.results.store import read_results
from vas_core.errors import BadInput

_ONE = "`vas bench report` compares each on its own"


def is_results(file: Path) -> bool:
    """Tells whether a file holds runs, a JSON object a line, or is a report that carries them."""
    if str(file) == "-" or not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(1) in (b"{", b"<")


def samples_of_runs(
    runs: Iterable[BenchRun], where: str, *, measure: str | None = None, paired: bool = False
) -> dict[str, list[float]]:
    """Returns each system's values of a measure, without warm-ups and INVALID runs.

    The measure is by default the one that the workload is compared by. If paired, values are in
    the order of rounds, of those that every system ran. Raises BadInput unless all runs are of one
    workload with one set of parameters, and of two systems or more.
    """
    found = list(runs)
    groups = grouped(found)
    cases = {group.case for group in groups}
    if len(cases) > 1:
        names = ", ".join(sorted({case.workload for case in cases}))
        raise BadInput(f"holds {len(cases)} experiments ({names})", where=where, hint=_ONE)
    if len(groups) < 2 or len({group.system for group in groups}) < len(groups):
        what = "holds one system" if len(groups) < 2 else "holds several settings of one system"
        raise BadInput(what, where=where, hint=_ONE)
    name = measure or primary_of(_only(cases).workload)
    rounds = set.intersection(*({run.round for run in group.runs} for group in groups))
    samples: dict[str, list[float]] = {
        group.system: [
            run.measures[name]
            for run in sorted(group.runs, key=lambda run: run.round or 0)
            if name in run.measures and (not paired or run.round in rounds)
        ]
        for group in groups
    }
    empty = next((system for system, values in samples.items() if not values), None)
    if empty:
        raise BadInput(f"{empty} has no {name}", where=where, hint="give another --measure")
    return samples


def _only(cases: set[BenchCase]) -> BenchCase:
    (case,) = cases
    return case


def read_samples(file: Path, *, measure: str | None, paired: bool) -> dict[str, list[float]]:
    """Reads a file of results and returns its samples. Raises BadInput as `samples_of_runs`."""
    runs = read_results(file, say=lambda _: None)
    return samples_of_runs(runs, str(file), measure=measure, paired=paired)
