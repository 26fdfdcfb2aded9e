"""Computes the score of a placement, as a whole or by thread and term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vas_affinity.machine.distance.matrix import Bools, Floats, Ints
from vas_affinity.search.score.problem import PlacementProblem


@dataclass(frozen=True, eq=False)
class Terms:
    """A placement's score by thread (T each); each thread of a pair gets half of the pair's cost.

    `forbidden`: the thread is on a CPU that it must not use, or shares a core or CPU with one from
    which it must be apart; no term counts that.
    """

    communication: Floats
    sharing: Floats
    interrupt: Floats
    memory: Floats
    forbidden: Bools

    @property
    def by_thread(self) -> Floats:
        """Returns each thread's part of the score (T)."""
        return self.communication + self.sharing + self.interrupt + self.memory

    @property
    def total(self) -> float:
        """Returns the score; lower is better, infinite means forbidden."""
        return float("inf") if self.forbidden.any() else float(self.by_thread.sum())


def terms(problem: PlacementProblem, places: Ints) -> Terms:
    """Returns each thread's part of each term of a placement's score."""
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
        forbidden=problem.forbidden[rows, places] | (problem.intruders(places) > 0),
    )


def score(problem: PlacementProblem, places: Ints) -> float:
    """Returns the score of a placement.

    The sum over pairs of w_ij d(c_i, c_j) + a_i a_j s(c_i, c_j), plus what each thread pays alone.
    """
    return terms(problem, places).total
