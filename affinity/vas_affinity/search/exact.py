"""The optimum of a small problem, by branch and bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vas_affinity.distance.matrix import Floats, Ints
from vas_affinity.score.problem import Problem

_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best placement; `proved` unless the limit of branches ended the search first."""

    places: Ints
    proved: bool
    branches: int


def optimum(problem: Problem, start: Ints, start_score: float, *, branches: int) -> Optimum:
    """The placement of the lowest score, if that takes at most so many branches.

    `start` is what is returned where none is better.
    """
    search = _Search(problem, start, start_score, branches)
    search.run()
    return Optimum(search.best, search.left >= 0, branches - max(search.left, 0))


class _Search:
    """Threads in order of what they weigh; a branch is one thread on one CPU.

    A branch is cut where the score so far, the cheapest CPU of each thread that is left and the
    cheapest way to have each pair of them are no better than the best.
    """

    def __init__(self, problem: Problem, start: Ints, score: float, branches: int) -> None:
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
        """`cost` (T x C) is what each thread pays beside those placed."""
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
        return np.asarray(near + problem.activity[thread] * shared)

    def _cpus(self, cost: Floats) -> Iterator[int]:
        """From the cheapest, of CPUs that are alike and empty only the first."""
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
        """By depth: the least that the pairs of threads placed later can cost."""
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


def _twins(problem: Problem) -> Ints:
    """A CPU's lowest twin: exchanging the two changes no score."""
    count = len(problem.cpus)
    lowest = np.arange(count)
    for cpu in range(count):
        for other in range(cpu):
            if lowest[other] == other and _alike(problem, cpu, other):
                lowest[cpu] = other
                break
    return lowest


def _alike(problem: Problem, one: int, other: int) -> bool:
    order = np.arange(len(problem.cpus))
    order[one], order[other] = other, one
    swapped = np.ix_(order, order)
    return (
        np.array_equal(problem.alone, problem.alone[:, order])
        and np.array_equal(problem.distance, problem.distance[swapped])
        and np.array_equal(problem.sharing, problem.sharing[swapped])
    )
