"""The search as planners call it: exact where that is quick, local otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vas_affinity.distance.matrix import Ints
from vas_affinity.score.problem import Problem
from vas_affinity.score.terms import score
from vas_affinity.search.exact import Optimum, optimum
from vas_affinity.search.greedy import allowed, greedy
from vas_affinity.search.local import settle
from vas_affinity.search.standing import Standing

_EXACT_THREADS = 8


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How hard to search. The same seed gives the same plan, unless the budget ended the search.

    `kicks` None is by the problem's size; `branches` is the most that the exact search takes for a
    problem of up to 8 threads, 0 leaves it out.
    """

    seed: int = 0
    budget_seconds: float | None = None
    kicks: int | None = None
    branches: int = 20_000

    def kicks_for(self, problem: Problem) -> int:
        """How many times a local optimum is kicked."""
        if not problem.threads:
            return 0
        by_size = min(600, 50_000 // len(problem.threads))
        return by_size if self.kicks is None else self.kicks


@dataclass(frozen=True, eq=False)
class Found:
    """The best placement found. `optimal`: proved to be; `cut`: the budget ended the search."""

    places: Ints
    score: float
    start_score: float
    optimal: bool
    cut: bool
    what_ifs: int


DEFAULT = Effort()


def find(
    problem: Problem,
    start: Ints | None = None,
    effort: Effort = DEFAULT,
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """A placement of a low score, never above that of `start` (None: any)."""
    deadline = None if effort.budget_seconds is None else clock() + effort.budget_seconds
    cut = False

    def late() -> bool:
        nonlocal cut
        cut = cut or (deadline is not None and clock() >= deadline)
        return cut

    first = greedy(problem)
    began = first if start is None else start
    standing = Standing(problem, _better(problem, allowed(problem, began), first))
    exact = _exact(problem, standing.places, effort)
    if exact is not None and exact.proved:
        places, what_ifs = exact.places, exact.branches * len(problem.cpus)
    else:
        random = np.random.default_rng(effort.seed)
        kicks = effort.kicks_for(problem)
        places = settle(standing, kicks=kicks, random=random, late=late)
        what_ifs = standing.what_ifs
    places = _better(problem, began, places)
    proved = exact is not None and exact.proved
    return Found(places, score(problem, places), score(problem, began), proved, cut, what_ifs)


def _better(problem: Problem, one: Ints, other: Ints) -> Ints:
    return one if score(problem, one) <= score(problem, other) else other


def _exact(problem: Problem, places: Ints, effort: Effort) -> Optimum | None:
    if not problem.threads or len(problem.threads) > _EXACT_THREADS or effort.branches == 0:
        return None
    return optimum(problem, places, score(problem, places), branches=effort.branches)
