"""Placements to start from."""

from __future__ import annotations

import numpy as np

from vas_affinity.distance.matrix import Floats, Ints
from vas_affinity.score.problem import Problem


def greedy(problem: Problem) -> Ints:
    """One thread after another on its cheapest CPU: always the one that has most to do with those
    that stand already, or where none has, the busiest."""
    count = len(problem.threads)
    places = np.zeros(count, dtype=np.intp)
    cost, pressure = problem.alone.copy(), np.zeros(len(problem.cpus))
    bound: Floats = np.zeros(count)
    rank = problem.activity + problem.weighted.sum(axis=1)
    rank = rank / (1.0 + rank.max(initial=0.0)) * 1e-3
    waiting = np.ones(count, dtype=np.bool_)
    for _ in range(count):
        thread = int(np.argmax(np.where(waiting, bound + rank, -1.0)))
        active = problem.activity[thread]
        cpu = int(np.argmin(cost[thread] + active * pressure))
        places[thread], waiting[thread] = cpu, False
        near = problem.neighbours[thread]
        cost[near] += np.outer(problem.weighted[near, thread], problem.distance[cpu])
        pressure += active * problem.sharing[cpu]
        bound += problem.weighted[thread]
    return places


def allowed(problem: Problem, places: Ints) -> Ints:
    """These places, but a thread on a CPU that is forbidden to it goes to its cheapest."""
    rows = np.arange(len(places))
    forbidden = np.isinf(problem.alone[rows, places])
    return np.where(forbidden, problem.alone.argmin(axis=1), places)
