"""The search as planners call it: exact where that is quick, local otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vas_affinity.distance.matrix import Ints
from vas_affinity.score.problem import Problem
from vas_affinity.score.terms import score
from vas_affinity.search.exact import optimum
from vas_affinity.search.greedy import allowed, greedy
from vas_affinity.search.local import settle

_EXACT_THREADS = 8
_EXACT_BRANCHES = 4000


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How hard to search. The same seed gives the same plan, unless the budget ended the search.

    `kicks` None is by the problem's size; `exact` False leaves the exact search out.
    """

    seed: int = 0
    budget_seconds: float | None = None
    kicks: int | None = None
    exact: bool = True

    def kicks_for(self, problem: Problem) -> int:
        """How many times a local optimum is kicked."""
        return min(4000, 300 + 4 * len(problem.threads)) if self.kicks is None else self.kicks


@dataclass(frozen=True, eq=False)
class Found:
    """The best placement found. `cut`: the budget ended the search."""

    places: Ints
    score: float
    start_score: float
    optimal: bool
    cut: bool
    what_ifs: int


def find(
    problem: Problem,
    start: Ints | None = None,
    effort: Effort = Effort(),
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """A placement of a low score, never above that of `start`."""
    deadline = None if effort.budget_seconds is None else clock() + effort.budget_seconds

    def late() -> bool:
        return deadline is not None and clock() >= deadline

    first = greedy(problem)
    began = first if start is None else start
    starts = [allowed(problem, began), first]
    places, what_ifs = settle(
        problem,
        starts,
        kicks=effort.kicks_for(problem),
        random=np.random.default_rng(effort.seed),
        late=late,
    )
    places = min((*starts, places), key=lambda each: score(problem, each))
    proved = False
    if effort.exact and len(problem.threads) <= _EXACT_THREADS and not late():
        best = optimum(problem, places, score(problem, places), branches=_EXACT_BRANCHES)
        places, proved = best.places, best.proved
        what_ifs += best.branches * len(problem.cpus)
    return Found(places, score(problem, places), score(problem, began), proved, late(), what_ifs)
