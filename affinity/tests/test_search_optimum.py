"""The search beside an exact solver."""

from __future__ import annotations

import numpy as np
import pytest
from highs import optimal

from vas_affinity.search import Effort, find
from vas_affinity.search.score import PlacementProblem, score
from vas_bench.search.instances import instance, machine

MACHINES = [
    machine(packages=2, nodes=1, caches=1, cores=2, threads=2),
    machine(packages=1, nodes=2, caches=2, cores=2, threads=1),
    machine(packages=2, nodes=1, caches=1, cores=3, threads=1),
    machine(packages=1, nodes=1, caches=2, cores=2, threads=2),
]


EFFORTS = {"as planned": Effort(), "local search alone": Effort(branches=0)}


def _problem(number: int) -> PlacementProblem:
    topology = MACHINES[number % len(MACHINES)]
    return instance(topology, 4 + number // len(MACHINES) % 2, np.random.default_rng(number))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
def test_within_a_percent_of_the_optimum_of_100_instances() -> None:
    gaps = {}
    for number in range(100):
        problem = _problem(number)
        best = score(problem, optimal(problem))
        for name, effort in EFFORTS.items():
            found = find(problem, None, effort)
            assert found.score >= best - 1e-6 * (1 + best), f"{number}: below the optimum"
            gaps[number, name] = found.score / best - 1 if best else found.score
    assert {which: gap for which, gap in gaps.items() if gap > 0.01} == {}


def test_the_oracle_agrees_with_branch_and_bound_on_one() -> None:
    problem = _problem(0)
    found = find(problem)
    assert found.optimal
    assert found.score == pytest.approx(score(problem, optimal(problem)))
