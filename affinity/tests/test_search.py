"""The search: moves are evaluated as the score says, and what it finds is good."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placement_problems import parted, parted_problems, placed, problems

from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.search import Effort, find
from vas_affinity.search.assignment import Assignment
from vas_affinity.search.exact import optimum
from vas_affinity.search.greedy import greedy
from vas_affinity.search.local import undo
from vas_affinity.search.score import PlacementProblem, score
from vas_bench.search.instances import instance, machine

QUICK = Effort(perturbations=20, branches=0)


def _moved(places: Ints, thread: int, cpu: int) -> Ints:
    after = places.copy()
    after[thread] = cpu
    return after


def _swapped(places: Ints, one: int, other: int) -> Ints:
    after = places.copy()
    after[one], after[other] = places[other], places[one]
    return after


def _worth(problem: PlacementProblem, places: Ints) -> float:
    """The score as the search sees it: a pair that must be apart and is not costs very much."""
    pairs = problem.intruders(places).sum() / 2
    return score(replace(problem, apart=None, own=None), places) + 1e6 * pairs


def _close(problem: PlacementProblem, before: Ints, after: Ints, change: float) -> bool:
    wanted = _worth(problem, after) - _worth(problem, before)
    if not np.isfinite(wanted):
        return not np.isfinite(change)
    return abs(wanted - change) < 1e-7 * (1 + abs(_worth(problem, before)))


@settings(max_examples=30)
@given(placed(most_threads=8), st.data())
def test_what_a_move_or_swap_changes_is_what_the_score_says(
    given_one: tuple[PlacementProblem, Ints], data: st.DataObject
) -> None:
    problem, places = given_one
    assignment = Assignment(problem, places)
    threads = st.integers(0, len(places) - 1)
    for _ in range(2):
        thread, here = data.draw(threads), assignment.places.copy()
        moves, swaps = assignment.moves(thread), assignment.swaps(thread)
        gains = [assignment.moves(t).min() for t in range(len(places))]
        swapped = [assignment.swaps(t).min() for t in range(len(places))]
        gainers = np.flatnonzero(np.minimum(gains, swapped) < -1e-6)
        assert set(gainers) <= set(assignment.restless(1e-7)) <= set(assignment.restless(1e-9))
        assert not set(assignment.restless(1e-5)) - set(gainers)
        for cpu in range(len(problem.cpus)):
            assert _close(problem, here, _moved(here, thread, cpu), moves[cpu])
        for other in range(len(places)):
            assert _close(problem, here, _swapped(here, thread, other), swaps[other])
        cpu = data.draw(st.integers(0, len(problem.cpus) - 1))
        gains = {t: float(assignment.moves(t)[cpu]) for t in range(len(places))}
        wanted = {t for t, gain in gains.items() if gain < -1e-6}
        found = assignment.attracted(cpu, len(places)).tolist()
        assert wanted <= set(found) <= {t for t, gain in gains.items() if gain < 1e-6}
        free = np.flatnonzero(np.isfinite(problem.alone[thread]))
        assignment.move(thread, int(data.draw(st.sampled_from(free.tolist()))))
        gained = _worth(problem, places) - _worth(problem, assignment.places)
        assert assignment.gained == pytest.approx(gained, abs=1e-6)


@settings(max_examples=20)
@given(placed())
def test_never_worse_than_the_start_and_nothing_forbidden(
    given_one: tuple[PlacementProblem, Ints],
) -> None:
    problem, start = given_one
    found = find(problem, start, QUICK)
    assert found.score <= score(problem, start)
    assert found.score == score(problem, found.places)
    assert np.isfinite(found.score) or problem.apart is not None


@settings(max_examples=20)
@given(problems(), st.integers(0, 3))
def test_a_start_that_is_forbidden_is_left(problem: PlacementProblem, cpu: int) -> None:
    start = np.full(len(problem.threads), cpu % len(problem.cpus), dtype=np.intp)
    assert np.isfinite(find(problem, start, QUICK).score)


@settings(max_examples=10)
@given(problems(), st.integers(0, 9))
def test_one_seed_one_plan(problem: PlacementProblem, seed: int) -> None:
    effort = Effort(seed=seed, perturbations=20)
    one, other = find(problem, None, effort), find(problem, None, effort)
    assert one.places.tolist() == other.places.tolist()


@settings(max_examples=25)
@given(st.one_of(problems(most_threads=3), parted_problems(most_threads=3)))
def test_branch_and_bound_finds_what_trying_all_finds(problem: PlacementProblem) -> None:
    if len(problem.cpus) > 8:
        return
    every = itertools.product(range(len(problem.cpus)), repeat=len(problem.threads))
    best = min(score(problem, np.array(places)) for places in every)
    start = greedy(problem)
    found = optimum(problem, start, score(problem, start), branches=10**6)
    assert found.proved
    assert score(problem, found.places) == pytest.approx(best)


@settings(max_examples=25)
@given(parted_problems(), st.data())
def test_an_exchange_of_cores_is_its_moves(problem: PlacementProblem, data: st.DataObject) -> None:
    start = greedy(problem)
    assignment = Assignment(problem, start)
    cpus = st.integers(0, len(problem.cpus) - 1)
    done = assignment.exchange(data.draw(cpus), data.draw(cpus))
    undo(assignment, done)
    assert assignment.places.tolist() == start.tolist()
    assert assignment.gained == pytest.approx(0, abs=1e-5)


def test_threads_that_must_be_apart_are_where_there_is_room() -> None:
    topology = machine(packages=2, nodes=1, caches=1, cores=4, threads=2)
    for seed in range(20):
        problem = parted(instance(topology, 8, np.random.default_rng(seed)), seed, 1.0)
        found = find(problem, None, QUICK)
        assert np.isfinite(found.score), seed
        assert not problem.intruders(found.places).any()


def test_a_budget_of_nothing_still_gives_a_plan() -> None:
    problem = instance(
        machine(packages=2, nodes=1, caches=1, cores=4, threads=2), 30, np.random.default_rng(0)
    )
    ticks = itertools.count()
    found = find(problem, None, Effort(budget_seconds=1), clock=lambda: float(next(ticks)))
    assert found.cut
    assert np.isfinite(found.score)


def test_no_threads_is_no_plan() -> None:
    empty = instance(
        machine(packages=1, nodes=1, caches=1, cores=2, threads=1), 0, np.random.default_rng(0)
    )
    assert find(empty).places.size == 0
