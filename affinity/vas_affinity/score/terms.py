"""The score of a placement, whole or by thread and term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vas_affinity.distance.matrix import Bools, Floats, Ints
from vas_affinity.score.problem import Problem


@dataclass(frozen=True, eq=False)
class Terms:
    """A placement's score by thread (T each): a pair's cost is halved between its two threads.

    `forbidden`: the thread is where it may not be, which no term counts.
    """

    communication: Floats
    sharing: Floats
    interrupt: Floats
    memory: Floats
    forbidden: Bools

    @property
    def by_thread(self) -> Floats:
        """Each thread's part of the score."""
        return self.communication + self.sharing + self.interrupt + self.memory

    @property
    def total(self) -> float:
        """The score: lower is better, infinite is forbidden."""
        return float("inf") if self.forbidden.any() else float(self.by_thread.sum())


def terms(problem: Problem, places: Ints) -> Terms:
    """Each thread's part of each term."""
    rows = np.arange(len(problem.threads))
    far = problem.distance[np.ix_(places, places)]
    shared = problem.sharing[np.ix_(places, places)]
    np.fill_diagonal(shared, 0.0)
    active = problem.activity
    return Terms(
        communication=(problem.weighted * far).sum(axis=1) / 2
        + problem.weights.communication * problem.anchor[rows, places],
        sharing=active * (shared @ active) / 2 + problem.beside[rows, places],
        interrupt=problem.weights.interrupt * problem.interrupt[rows, places],
        memory=problem.weights.memory * problem.memory[rows, places],
        forbidden=problem.forbidden[rows, places],
    )


def score(problem: Problem, places: Ints) -> float:
    """Sum over pairs of w_ij d(c_i, c_j) and a_i a_j s(c_i, c_j), plus what each pays alone."""
    return terms(problem, places).total
