"""Makes placements from which a search starts."""

from __future__ import annotations

import numpy as np

from vas_affinity.machine.distance.matrix import Floats, Ints
from vas_affinity.search.assignment import INTRUDER
from vas_affinity.search.score.problem import PlacementProblem


def greedy(problem: PlacementProblem) -> Ints:
    """Places one thread after another on its cheapest CPU.

    The next thread is always the one that communicates most with those placed, else the busiest.
    """
    count = len(problem.threads)
    places = np.zeros(count, dtype=np.intp)
    cost, pressure = problem.alone.copy(), np.zeros(len(problem.cpus))
    intruded = np.zeros_like(cost)
    bound: Floats = np.zeros(count)
    rank = problem.activity + problem.weighted.sum(axis=1)
    rank = rank / (1.0 + rank.max(initial=0.0)) * 1e-3
    waiting = np.ones(count, dtype=np.bool_)
    for _ in range(count):
        thread = int(np.argmax(np.where(waiting, bound + rank, -1.0)))
        active = problem.activity[thread]
        cpu = int(np.argmin(cost[thread] + active * pressure + intruded[thread]))
        places[thread], waiting[thread] = cpu, False
        near = problem.neighbours[thread]
        cost[near] += np.outer(problem.weighted[near, thread], problem.distance[cpu])
        pressure += active * problem.sharing[cpu]
        for ban in problem.bans:
            there = ban.group == ban.group[cpu]
            intruded += INTRUDER * np.outer(ban.pairs[thread], there)
        bound += problem.weighted[thread]
    return places


def allowed(problem: PlacementProblem, places: Ints) -> Ints:
    """Returns these places, with each thread on a forbidden CPU moved to its cheapest one."""
    rows = np.arange(len(places))
    forbidden = np.isinf(problem.alone[rows, places])
    return np.where(forbidden, problem.alone.argmin(axis=1), places)
