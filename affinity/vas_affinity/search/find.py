"""The search that planners call: exact for small problems, local otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.search.assignment import Assignment
from vas_affinity.search.exact import Optimum, optimum
from vas_affinity.search.greedy import allowed, greedy
from vas_affinity.search.local import settle
from vas_affinity.search.score.problem import PlacementProblem
from vas_affinity.search.score.terms import score

_EXACT_THREADS = 8


@dataclass(frozen=True, kw_only=True)
class Effort:
    """The effort of a search. The same seed gives the same plan, unless the budget ended it.

    `perturbations` None: by the problem's size. `branches` is the limit of the exact search, which
    is tried for problems of up to 8 threads; 0 leaves it out.
    """

    seed: int = 0
    budget_seconds: float | None = None
    perturbations: int | None = None
    branches: int = 20_000

    def perturbations_for(self, problem: PlacementProblem) -> int:
        """Returns how many times a local optimum is perturbed."""
        if not problem.threads:
            return 0
        by_size = min(600, 50_000 // len(problem.threads))
        return by_size if self.perturbations is None else self.perturbations


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best placement found. `optimal`: proved; `cut`: the budget ended the search."""

    places: Ints
    score: float
    start_score: float
    optimal: bool
    cut: bool
    what_ifs: int


DEFAULT = Effort()


def find(
    problem: PlacementProblem,
    start: Ints | None = None,
    effort: Effort = DEFAULT,
    clock: Callable[[], float] = time.monotonic,
) -> SearchResult:
    """Searches a placement of a low score, never above that of `start` (None: any start)."""
    deadline = None if effort.budget_seconds is None else clock() + effort.budget_seconds
    cut = False

    def late() -> bool:
        nonlocal cut
        cut = cut or (deadline is not None and clock() >= deadline)
        return cut

    first = greedy(problem)
    began = first if start is None else start
    assignment = Assignment(problem, _better(problem, allowed(problem, began), first))
    exact = _exact(problem, assignment.places, effort)
    if exact is not None and exact.proved:
        places, what_ifs = exact.places, exact.branches * len(problem.cpus)
    else:
        random = np.random.default_rng(effort.seed)
        perturbations = effort.perturbations_for(problem)
        places = settle(assignment, perturbations=perturbations, random=random, late=late)
        what_ifs = assignment.what_ifs
    places = _better(problem, began, places)
    proved = exact is not None and exact.proved
    return SearchResult(
        places, score(problem, places), score(problem, began), proved, cut, what_ifs
    )


def _better(problem: PlacementProblem, one: Ints, other: Ints) -> Ints:
    return one if score(problem, one) <= score(problem, other) else other


def _exact(problem: PlacementProblem, places: Ints, effort: Effort) -> Optimum | None:
    if not problem.threads or len(problem.threads) > _EXACT_THREADS or effort.branches == 0:
        return None
    return optimum(problem, places, score(problem, places), branches=effort.branches)
