"""Iterated local search: descend by moves and swaps, kick a group of threads, descend again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from vas_affinity.distance.matrix import Ints
from vas_affinity.score.terms import score
from vas_affinity.search.standing import Standing

_LEAST_GAIN = 1e-9
_LARGEST_GROUP = 8
_SCATTERED = 0.2  # of the kicks
_WARMTH = 0.5

Moves = list[tuple[int, int]]
"""Thread and the CPU it came from, in order."""


def descend(standing: Standing, threads: Iterable[int], late: Callable[[], bool]) -> Moves:
    """Moves or swaps the threads given, and those that this touches, while any of it gains.

    Returns what it did, so that it can be undone.
    """
    done: Moves = []
    waiting = dict.fromkeys(threads)
    while waiting and not late():
        thread = next(iter(waiting))
        del waiting[thread]
        before = len(done)
        _step(standing, thread, done)
        for moved, _ in done[before:]:
            waiting.setdefault(moved)
            waiting.update(dict.fromkeys(standing.problem.neighbours[moved].tolist()))
    return done


def _step(standing: Standing, thread: int, done: Moves) -> None:
    moves = standing.moves(thread)
    cpu = int(moves.argmin())
    if moves[cpu] < -_LEAST_GAIN:
        done.append((thread, int(standing.places[thread])))
        standing.move(thread, cpu)
        return
    swaps = standing.swaps(thread)
    other = int(swaps.argmin())
    if swaps[other] < -_LEAST_GAIN:
        done.append((thread, int(standing.places[thread])))
        done.append((other, int(standing.places[other])))
        standing.swap(thread, other)


def undo(standing: Standing, done: Moves) -> None:
    """Takes moves back, the last first."""
    for thread, cpu in reversed(done):
        standing.move(thread, cpu)


def kick(standing: Standing, random: np.random.Generator) -> Moves:
    """Puts a thread on a CPU at random, and some it communicates with, or at random, after it."""
    problem = standing.problem
    first = int(random.integers(len(problem.threads)))
    near = problem.neighbours[first]
    pool = near if near.size and random.random() < 0.8 else np.arange(len(problem.threads))
    size = int(random.integers(0, min(_LARGEST_GROUP, len(pool)) + 1))
    group = random.choice(pool, size=size, replace=False).tolist()
    free = np.flatnonzero(np.isfinite(problem.alone[first]))
    done: Moves = [(first, int(standing.places[first]))]
    standing.move(first, int(random.choice(free)))
    for thread in group:
        if thread != first:
            done.append((thread, int(standing.places[thread])))
            standing.move(thread, int(standing.moves(thread).argmin()))
    return done


def scatter(standing: Standing, random: np.random.Generator) -> Moves:
    """Puts some threads, taken at random, on CPUs at random."""
    alone = standing.problem.alone
    done: Moves = []
    for thread in random.permutation(len(alone))[:_LARGEST_GROUP].tolist():
        done.append((thread, int(standing.places[thread])))
        standing.move(thread, int(random.choice(np.flatnonzero(np.isfinite(alone[thread])))))
    return done


def settle(
    standing: Standing, *, kicks: int, random: np.random.Generator, late: Callable[[], bool]
) -> Ints:
    """The best placement found from where the threads stand.

    A kick that ends higher is kept at times, by how much it is above what a thread costs on
    average and less and less: else the search stays around the first optimum.
    """
    _descend_all(standing, late)
    best, most = standing.places.copy(), standing.gained
    each = _WARMTH * abs(score(standing.problem, best)) / max(1, len(best))
    for number in range(kicks):
        if late():
            break
        _try_kick(standing, random, late, each * (1 - number / kicks))
        if standing.gained > most + _LEAST_GAIN:
            best, most = standing.places.copy(), standing.gained
    return best


def _descend_all(standing: Standing, late: Callable[[], bool]) -> None:
    while len(standing.places) and not late():
        restless = standing.restless(_LEAST_GAIN)
        if not restless.size:
            return
        descend(standing, restless.tolist(), late)


def _try_kick(
    standing: Standing, random: np.random.Generator, late: Callable[[], bool], warmth: float
) -> None:
    before = standing.gained
    done = (scatter if random.random() < _SCATTERED else kick)(standing, random)
    done += descend(standing, [thread for thread, _ in done], late)
    if standing.gained < before - warmth * random.exponential():
        undo(standing, done)
