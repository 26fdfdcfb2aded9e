"""Formats the result of a search for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vas_bench.statistics.summary import summary
from vas_bench.tune.halving import RungOutcome
from vas_bench.tune.search import TuneResult
from vas_bench.tune.space import Space, TunePoint


def rows(found: TuneResult) -> Iterator[tuple[object, ...]]:
    """Yields every candidate of every rung: rung, runs so far, median seconds, outcome."""
    for outcome in found.outcomes:
        rung = outcome.rung
        for point, seconds in outcome.ranking:
            fate = "goes on" if point in outcome.kept else "out"
            name = found.space.name(point)
            yield rung.number, rung.before + rung.runs, f"{seconds:.1f}", fate, name
        for point in outcome.failed:
            yield rung.number, "", "", "failed", found.space.name(point)


def finals(found: TuneResult) -> Iterator[tuple[object, ...]]:
    """Yields the baseline and each finalist: runs, median seconds, spread, and the verdict.

    The spread says how small a gain these runs can tell from noise.
    """
    verdicts = {each.pair.arm: each.verdict for each in found.verdict.differences}
    for name, values in found.samples.items():
        it = summary(values)
        yield name, it.n, f"{it.median:.1f}", f"{100 * it.cv:.1f}%", verdicts.get(name, "")


def as_json(found: TuneResult) -> dict[str, Any]:
    """Returns the space, the rungs, and the comparisons that decided."""
    verdict = found.verdict
    return {
        **space_as_json(found.space),
        "rungs": [_rung(found.space, outcome) for outcome in found.outcomes],
        "finalists": [found.space.name(point) for point in found.finalists],
        "seconds": {name: list(values) for name, values in found.samples.items()},
        "comparisons": [each.as_json() for each in verdict.differences],
        "recommended": found.recommended.all if found.recommended else None,
        "verdict": verdict.in_words,
    }


def space_as_json(space: Space) -> dict[str, Any]:
    """Returns the candidates, and the combinations that `vas lint` refuses, with the reason."""
    return {
        "baseline": space.baseline.choices,
        "candidates": [space.name(point) for point in space.candidates],
        "not_drawn": space.undrawn,
        "impossible": [
            {"candidate": space.name(point), **why.as_json()} for point, why in space.impossible
        ],
    }


def _rung(space: Space, outcome: RungOutcome[TunePoint]) -> dict[str, Any]:
    return {
        "number": outcome.rung.number,
        "new_runs_of_each": outcome.rung.runs,
        "median_seconds": {space.name(point): value for point, value in outcome.ranking},
        "failed": [space.name(point) for point in outcome.failed],
        "kept": [space.name(point) for point in outcome.kept],
    }
