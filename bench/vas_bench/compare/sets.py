"""Matches the experiments of two sets of results, and judges what became better or worse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from vas_bench.report.words import case_words
from vas_bench.results.groups import BenchCase, RunGroup, grouped
from vas_bench.results.measures import MEASURES, measure_of
from vas_bench.results.record import BenchRun
from vas_bench.results.systems import ComparedSystem
from vas_bench.statistics.bootstrap import ALPHA
from vas_bench.statistics.compare import ArmDifference, SamplePair, judge
from vas_bench.statistics.gain import BetterDirection
from vas_core.errors import BadInput

Key = tuple[BenchCase, ComparedSystem]


@dataclass(frozen=True)
class ResultChange:
    """An experiment in both sets; `differing` lists settings that differ between them."""

    name: str
    difference: ArmDifference
    differing: tuple[str, ...]
    threshold: float

    @property
    def worse(self) -> bool:
        """Returns whether it became significantly worse, by at least the threshold's share."""
        ratio = self.difference.ratio.value
        loss = ratio - 1 if self.difference.pair.better is BetterDirection.LOWER else 1 / ratio - 1
        return self.difference.improved is False and loss >= self.threshold

    @property
    def verdict(self) -> str:
        """The verdict in words, which names a loss below the threshold as such."""
        below = self.difference.improved is False and not self.worse
        return f"{self.difference.verdict}{' (below the threshold)' if below else ''}"


@dataclass(frozen=True)
class Missing:
    """An experiment that is in one of the sets alone."""

    name: str
    side: str
    invalid: bool = False
    """Whether the other set has runs of it, all INVALID."""

    @property
    def words(self) -> str:
        """The reason why it is not compared: it is in one set alone, or INVALID in the other."""
        if not self.invalid:
            return f"in {self.side} alone, not compared"
        return f"all its runs in {'B' if self.side == 'A' else 'A'} are INVALID"


@dataclass(frozen=True)
class Result:
    """The changes found; `without_ratio` are experiments that are zero in A and not judged."""

    measure: str
    changes: tuple[ResultChange, ...]
    missing: tuple[Missing, ...]
    without_ratio: tuple[str, ...] = ()

    @property
    def broken(self) -> list[Missing]:
        """The experiments that counted in A and are INVALID in every run of B."""
        return [each for each in self.missing if each.side == "A" and each.invalid]

    @property
    def worse(self) -> list[ResultChange]:
        """The changes for the worse."""
        return [change for change in self.changes if change.worse]

    @property
    def undecidable(self) -> list[ResultChange]:
        """The changes that so few runs can never show to be significant."""
        return [each for each in self.changes if each.difference.smallest_p >= ALPHA]

    def as_json(self) -> dict[str, Any]:
        """Returns what `vas bench compare --json` prints."""
        return {
            "measure": self.measure,
            "changes": [_as_json(change) for change in self.changes],
            "missing": [asdict(each) for each in self.missing],
            "without_ratio": list(self.without_ratio),
            "worse": len(self.worse) + len(self.broken),
        }


def _as_json(change: ResultChange) -> dict[str, Any]:
    found = change.difference
    return {
        "name": change.name,
        "ratio": asdict(found.ratio),
        "p": found.p,
        "significant": found.significant,
        "worse": change.worse,
        "verdict": change.verdict,
        "differing": list(change.differing),
    }


def compare_sets(
    before: Iterable[BenchRun], after: Iterable[BenchRun], measure: str, threshold: float
) -> Result:
    """Compares set B (`after`) with set A (`before`) by a measure.

    Raises BadInput for a measure that has no better direction, or that no run has in both sets.
    """
    better = _better(measure)
    before, after = tuple(before), tuple(after)
    left, right = _by_key(before, measure), _by_key(after, measure)
    missing = tuple(_missing(left, right, _invalid(before), _invalid(after)))
    both = [key for key in left if key in right]
    if not both and not any(each.invalid for each in missing):
        raise BadInput(f"no experiment has {measure} in both", where="A and B")
    zero = [key for key in both if median(left[key].values(measure)) <= 0]
    named = [(_name(key), left[key], right[key]) for key in both if key not in zero]
    what = "time" if measure.endswith("seconds") else measure.replace("_", " ")
    pairs = [
        SamplePair("B", "A", b.values(measure), a.values(measure), better, what)
        for _, a, b in named
    ]
    changes = (
        ResultChange(name, difference, _differing(a, b), threshold)
        for (name, a, b), difference in zip(named, judge(pairs), strict=True)
    )
    return Result(measure, tuple(changes), missing, tuple(map(_name, zero)))


def _better(measure: str) -> BetterDirection:
    found = measure_of(measure)
    if found is None or found.better == "neither":
        known = ", ".join(name for name, each in MEASURES.items() if each.better != "neither")
        raise BadInput(f"{measure!r} is not a measure that gets better", hint=f"one of {known}")
    return BetterDirection(found.better)


def _by_key(runs: Iterable[BenchRun], measure: str) -> dict[Key, RunGroup]:
    """The experiments by what was to be done. Raises BadInput where a set has two for one."""
    found: dict[Key, RunGroup] = {}
    for group in grouped(runs):
        if not group.values(measure):
            continue
        key = group.case, group.system
        if key in found:
            text = "has several configurations or environments in one set"
            raise BadInput(text, where=_name(key), hint="compare files that have one each")
        found[key] = group
    return found


def _name(key: Key) -> str:
    return f"{case_words(key[0])}, {key[1]}"


def _invalid(runs: Iterable[BenchRun]) -> set[Key]:
    """Returns the case and system of each INVALID run that is not a warm-up."""
    return {(BenchCase.of(run), run.system) for run in runs if run.invalid and not run.warm_up}


def _missing(
    left: Mapping[Key, RunGroup],
    right: Mapping[Key, RunGroup],
    invalid_left: Set[Key],
    invalid_right: Set[Key],
) -> Iterator[Missing]:
    yield from (Missing(_name(key), "A", key in invalid_right) for key in left if key not in right)
    yield from (Missing(_name(key), "B", key in invalid_left) for key in right if key not in left)


def _differing(before: RunGroup, after: RunGroup) -> tuple[str, ...]:
    """Returns the names of settings that differ between two experiments."""
    a, b = before.runs[0], after.runs[0]
    parts: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = (
        ("version of", a.versions, b.versions),
        ("configuration", a.configuration, b.configuration),
        ("environment", a.environment, b.environment),
    )
    return tuple(
        f"{kind} {name}: {old.get(name)} -> {new.get(name)}"
        for kind, old, new in parts
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )
