"""Iterated local search: descend by moves and swaps, perturb a group of threads, descend again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.search.assignment import Assignment
from vas_affinity.search.score.terms import score

_LEAST_GAIN = 1e-9
_LARGEST_GROUP = 8
_SCATTERED = 0.2  # share of the perturbations
_WARMTH = 0.5
_MOST_ATTRACTED = 4

Moves = list[tuple[int, int]]
"""Thread and the CPU it came from, in order."""


def descend(assignment: Assignment, threads: Iterable[int], late: Callable[[], bool]) -> Moves:
    """Moves or swaps the given threads, and the neighbours of moved ones, while that gains.

    Returns the moves, so that they can be undone.
    """
    done: Moves = []
    waiting = dict.fromkeys(threads)
    while waiting and not late():
        thread = next(iter(waiting))
        del waiting[thread]
        before = len(done)
        _step(assignment, thread, done)
        for moved, left in done[before:]:
            waiting.setdefault(moved)
            waiting.update(dict.fromkeys(assignment.problem.neighbours[moved].tolist()))
            if assignment.problem.bans:  # its core may be free now for those kept off it
                waiting.update(dict.fromkeys(assignment.attracted(left, _MOST_ATTRACTED).tolist()))
    return done


def _step(assignment: Assignment, thread: int, done: Moves) -> None:
    moves = assignment.moves(thread)
    cpu = int(moves.argmin())
    if moves[cpu] < -_LEAST_GAIN:
        done.append((thread, int(assignment.places[thread])))
        assignment.move(thread, cpu)
        return
    swaps = assignment.swaps(thread)
    other = int(swaps.argmin())
    if swaps[other] < -_LEAST_GAIN:
        done.append((thread, int(assignment.places[thread])))
        done.append((other, int(assignment.places[other])))
        assignment.swap(thread, other)


def undo(assignment: Assignment, done: Moves) -> None:
    """Undoes moves, the last first."""
    for thread, cpu in reversed(done):
        assignment.move(thread, cpu)


def perturb(assignment: Assignment, random: np.random.Generator) -> Moves:
    """Moves a random thread to a random CPU, and then a few others to their best CPUs.

    The others are threads that it communicates with, or random ones. Returns the moves.
    """
    problem = assignment.problem
    first = int(random.integers(len(problem.threads)))
    near = problem.neighbours[first]
    pool = near if near.size and random.random() < 0.8 else np.arange(len(problem.threads))
    size = int(random.integers(0, min(_LARGEST_GROUP, len(pool)) + 1))
    group = random.choice(pool, size=size, replace=False).tolist()
    free = np.flatnonzero(np.isfinite(problem.alone[first]))
    done: Moves = [(first, int(assignment.places[first]))]
    assignment.move(first, int(random.choice(free)))
    for thread in group:
        if thread != first:
            done.append((thread, int(assignment.places[thread])))
            assignment.move(thread, int(assignment.moves(thread).argmin()))
    return done


def scatter(assignment: Assignment, random: np.random.Generator) -> Moves:
    """Moves a few random threads to random CPUs. Returns the moves."""
    alone = assignment.problem.alone
    done: Moves = []
    for thread in random.permutation(len(alone))[:_LARGEST_GROUP].tolist():
        done.append((thread, int(assignment.places[thread])))
        assignment.move(thread, int(random.choice(np.flatnonzero(np.isfinite(alone[thread])))))
    return done


def trade(assignment: Assignment, random: np.random.Generator) -> Moves:
    """Exchanges what is on a random thread's core with what is on another. Returns the moves.

    Where cores may not be shared, a thread alone has nowhere to go.
    """
    problem = assignment.problem
    thread = int(random.integers(len(problem.threads)))
    free = np.flatnonzero(np.isfinite(problem.alone[thread]))
    return assignment.exchange(int(assignment.places[thread]), int(random.choice(free)))


def clear(assignment: Assignment, random: np.random.Generator) -> Moves:
    """Moves what is on a random thread's core to its best CPUs on other cores. Returns the moves.

    A core is of use to threads that must be apart from all who are there only when all are gone.
    """
    problem = assignment.problem
    thread = int(random.integers(len(problem.threads)))
    core = np.flatnonzero(problem.same_core[assignment.places[thread]])
    done: Moves = []
    for each in np.flatnonzero(np.isin(assignment.places, core)).tolist():
        gains = assignment.moves(each)
        gains[core] = np.inf
        cpu = int(gains.argmin())
        if np.isfinite(gains[cpu]):
            done.append((each, int(assignment.places[each])))
            assignment.move(each, cpu)
    return done


def settle(
    assignment: Assignment,
    *,
    perturbations: int,
    random: np.random.Generator,
    late: Callable[[], bool],
) -> Ints:
    """Returns the best placement found by descents and perturbations from the present one.

    A perturbation that ends with a higher score is kept at times: the more rarely the worse it is
    and the longer the search runs. Otherwise the search would stay around the first optimum.
    """
    _descend_all(assignment, late)
    best, most = assignment.places.copy(), assignment.gained
    lowest = score(assignment.problem, best)
    each = _WARMTH * abs(lowest) / max(1, len(best)) if np.isfinite(lowest) else 0.0
    for number in range(perturbations):
        if late():
            break
        _try_perturbation(assignment, random, late, each * (1 - number / perturbations))
        if assignment.gained > most + _LEAST_GAIN:
            best, most = assignment.places.copy(), assignment.gained
    return best


def _descend_all(assignment: Assignment, late: Callable[[], bool]) -> None:
    while len(assignment.places) and not late():
        restless = assignment.restless(_LEAST_GAIN)
        if not restless.size:
            return
        descend(assignment, restless.tolist(), late)


def _try_perturbation(
    assignment: Assignment, random: np.random.Generator, late: Callable[[], bool], warmth: float
) -> None:
    before = assignment.gained
    kinds = [perturb, trade, clear] if assignment.problem.bans else [perturb]
    kind = scatter if random.random() < _SCATTERED else kinds[int(random.integers(len(kinds)))]
    done = kind(assignment, random)
    near = [thread for thread, _ in done]
    if assignment.problem.bans:
        left = [assignment.attracted(cpu, _MOST_ATTRACTED).tolist() for _, cpu in done]
        near = [*(thread for threads in left for thread in threads), *near]
    done += descend(assignment, near, late)
    if assignment.gained < before - warmth * random.exponential():
        undo(assignment, done)
