"""Successive halving: many candidates with few runs, few with many. Pure.

Jamieson and Talwalkar, Non-stochastic Best Arm Identification and Hyperparameter Optimization
(2016). A candidate that a slow run throws out is lost: that costs a gain, never a wrong
recommendation, for what is left is judged by new runs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Generic, TypeVar

Candidate = TypeVar("Candidate", bound=Hashable)


@dataclass(frozen=True)
class Rung(Generic[Candidate]):
    """A rung of the search, whose `number` counts from 1: new runs of each of its candidates.

    Each candidate had `before` runs in earlier rungs.
    """

    number: int
    runs: int
    before: int
    contenders: tuple[Candidate, ...]


@dataclass(frozen=True)
class RungOutcome(Generic[Candidate]):
    """A rung's ranking, the best first, with the median of all runs of each so far.

    `failed` had a run that did not count; `kept` go on.
    """

    rung: Rung[Candidate]
    ranking: tuple[tuple[Candidate, float], ...]
    failed: tuple[Candidate, ...]
    kept: tuple[Candidate, ...]


# The values, the lower the better, of a rung's new runs; a candidate with fewer runs has failed.
Measure = Callable[[Rung[Candidate]], Mapping[Candidate, Sequence[float]]]


def sizes(candidates: int, *, runs: int, keep_one_in: int, finalists: int) -> list[tuple[int, int]]:
    """Returns the number of candidates and of new runs of each rung, if nothing fails."""
    found = []
    while candidates > finalists:
        found.append((candidates, runs))
        candidates, runs = _stay(candidates, keep_one_in, finalists), runs * keep_one_in
    return found


def halve(
    candidates: Sequence[Candidate],
    measure: Measure[Candidate],
    *,
    runs: int,
    keep_one_in: int,
    finalists: int,
) -> Iterator[RungOutcome[Candidate]]:
    """Plays rungs until no more than `finalists` candidates are left, and yields each outcome.

    Yields nothing where there are no more than that from the beginning.
    """
    samples: dict[Candidate, list[float]] = {each: [] for each in candidates}
    contenders, number, before = tuple(candidates), 1, 0
    while len(contenders) > finalists:
        rung = Rung(number, runs, before, contenders)
        found = measure(rung)
        for each in contenders:
            samples[each] += found.get(each, ())
        failed = tuple(each for each in contenders if len(found.get(each, ())) < runs)
        ranking = _ranked([each for each in contenders if each not in failed], samples)
        stay = _stay(len(contenders), keep_one_in, finalists)
        kept = tuple(each for each, _ in ranking[:stay])
        yield RungOutcome(rung, ranking, failed, kept)
        contenders, number = kept, number + 1
        before, runs = before + runs, runs * keep_one_in


def _stay(contenders: int, keep_one_in: int, finalists: int) -> int:
    return max(finalists, -(-contenders // keep_one_in))


def _ranked(
    contenders: Sequence[Candidate], samples: Mapping[Candidate, Sequence[float]]
) -> tuple[tuple[Candidate, float], ...]:
    medians = [(each, median(samples[each])) for each in contenders]
    return tuple(sorted(medians, key=lambda found: found[1]))
