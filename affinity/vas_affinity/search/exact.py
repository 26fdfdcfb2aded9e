"""Finds the optimum of a small problem by branch and bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vas_affinity.machine.distance.matrix import Floats, Ints
from vas_affinity.search.score.problem import PlacementProblem

_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best placement found; `proved` unless the limit of branches ended the search."""

    places: Ints
    proved: bool
    branches: int


def optimum(
    problem: PlacementProblem, start: Ints, start_score: float, *, branches: int
) -> Optimum:
    """Searches the placement of the lowest score with at most so many branches.

    Returns `start`, whose score is `start_score`, if none is better.
    """
    if len(start) == 1:
        # To compare all pairs of CPUs for symmetry costs far more than to try every CPU.
        return Optimum(problem.alone.argmin(axis=1), proved=True, branches=1)
    search = _Search(problem, start, start_score, branches)
    search.run()
    return Optimum(search.best, search.left >= 0, branches - max(search.left, 0))


class _Search:
    """Places the threads in order of their weight; a branch is one thread on one CPU.

    A branch is cut if its lower bound does not beat the best score: the score so far, plus the
    cheapest CPU of each thread left, plus the cheapest places of each pair of them.
    """

    def __init__(self, problem: PlacementProblem, start: Ints, score: float, branches: int) -> None:
        self.problem = problem
        self.best, self.score, self.left = start.copy(), score, branches
        weight = problem.weighted.sum(axis=1) + problem.activity
        self.order = np.argsort(-weight, kind="stable")
        self.pairs_left = self._pairs_left()
        self.twins = _twins(problem)
        self.places = np.zeros(len(start), dtype=np.intp)
        self.used = np.zeros(len(problem.cpus), dtype=np.intp)

    def run(self) -> None:
        self._place(0, 0.0, self.problem.alone)

    def _place(self, depth: int, so_far: float, cost: Floats) -> None:
        """Places the thread at `depth`. `cost` (T x C) is what each pays next to those placed."""
        if depth == len(self.order):
            self.best, self.score = self.places.copy(), so_far
            return
        thread = int(self.order[depth])
        later = self.order[depth + 1 :]
        for cpu in self._cpus(cost[thread]):
            now = so_far + float(cost[thread, cpu])
            if now + self.pairs_left[depth] >= self.score - _SLACK:
                return  # the CPUs that follow cost more
            self.left -= 1
            if self.left < 0:
                return
            with_it = cost + self._with(thread, cpu)
            bound = now + float(with_it[later].min(axis=1).sum()) + self.pairs_left[depth]
            if bound >= self.score - _SLACK:
                continue
            self.places[thread] = cpu
            self.used[cpu] += 1
            self._place(depth + 1, now, with_it)
            self.used[cpu] -= 1

    def _with(self, thread: int, cpu: int) -> Floats:
        problem = self.problem
        near = np.outer(problem.weighted[thread], problem.distance[cpu])
        shared = np.outer(problem.activity, problem.sharing[cpu])
        found = near + problem.activity[thread] * shared
        for ban in problem.bans:
            here = np.flatnonzero(ban.group == ban.group[cpu])
            found[np.ix_(np.flatnonzero(ban.pairs[thread]), here)] = np.inf
        return np.asarray(found)

    def _cpus(self, cost: Floats) -> Iterator[int]:
        """Yields the CPUs, cheapest first; of equivalent empty CPUs only the first."""
        tried: set[int] = set()
        for cpu in np.argsort(cost, kind="stable").tolist():
            if not np.isfinite(cost[cpu]):
                return
            twin = int(self.twins[cpu])
            if self.used[cpu] == 0:
                if twin in tried:
                    continue
                tried.add(twin)
            yield cpu

    def _pairs_left(self) -> Floats:
        """Returns, by depth, the least that the pairs of threads placed later can cost."""
        problem, count = self.problem, len(self.order)
        left = np.zeros(count + 1)
        for depth in range(count - 2, -1, -1):
            one, later = self.order[depth + 1], self.order[depth + 2 :]
            left[depth] = left[depth + 1] + sum(
                float(
                    (
                        problem.weighted[one, j] * problem.distance
                        + problem.activity[one] * problem.activity[j] * problem.sharing
                    ).min()
                )
                for j in later
            )
        return left


def _twins(problem: PlacementProblem) -> Ints:
    """Returns each CPU's lowest twin: exchanging the two changes no score."""
    count = len(problem.cpus)
    lowest = np.arange(count)
    for cpu in range(count):
        for other in range(cpu):
            if lowest[other] == other and _are_twins(problem, cpu, other):
                lowest[cpu] = other
                break
    return lowest


def _are_twins(problem: PlacementProblem, one: int, other: int) -> bool:
    order = np.arange(len(problem.cpus))
    order[one], order[other] = other, one
    swapped = np.ix_(order, order)
    return (
        np.array_equal(problem.alone, problem.alone[:, order])
        and np.array_equal(problem.distance, problem.distance[swapped])
        and np.array_equal(problem.sharing, problem.sharing[swapped])
    )
