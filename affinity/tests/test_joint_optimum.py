"""Joint plans beside bounds of HiGHS: integer for small hosts, fractional for a large one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from placement_problems import problems

from vas_affinity.joint import every_home, plan_host
from vas_affinity.search import find
from vas_affinity.search.score import PlacementProblem
from vas_bench.search.bound import lower_bound
from vas_bench.search.hosts import HostInstance, host_instance
from vas_bench.search.instances import machine
from vas_bench.search.measured import host_bound

MACHINES = [
    machine(packages=2, nodes=1, caches=2, cores=4, threads=2),
    machine(packages=2, nodes=1, caches=2, cores=8, threads=2),
    machine(packages=1, nodes=2, caches=2, cores=4, threads=1),
    machine(packages=2, nodes=1, caches=1, cores=6, threads=2),
]
BIG = machine(packages=2, nodes=4, caches=2, cores=8, threads=2)


def _host(seed: int) -> HostInstance:
    random = np.random.default_rng(seed)
    more = {"guests": 1 + seed % 2, "vcpus": 2 + 2 * (seed % 3 > 0), "threads": 2, "queues": 2}
    return host_instance(MACHINES[seed % len(MACHINES)], random, **more)


def _gap(seed: int) -> float:
    host = _host(seed)
    plan = plan_host(host.snapshot, host.requests)
    assert len(plan.planned.places) <= 24
    bound = host_bound(host)
    assert plan.planned.score >= bound - 1e-6 * bound, f"{seed}: below what nothing can be below"
    return plan.planned.score / bound - 1


@pytest.mark.unhurried
def test_a_joint_plan_is_within_a_percent_of_the_optimum() -> None:
    assert _gap(0) <= 0.01


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(1800)
def test_joint_plans_are_within_a_percent_of_the_optimum_of_16_hosts() -> None:
    """Up to 64 CPUs and 24 entities, with every choice of the guests' nodes."""
    gaps = {seed: _gap(seed) for seed in range(16)}
    assert {seed: gap for seed, gap in gaps.items() if gap > 0.01} == {}


def test_the_rule_alone_is_farther_from_the_optimum() -> None:
    host = _host(0)
    rule = next(iter(every_home(host.snapshot, host.requests)))
    assert rule.score > 1.01 * plan_host(host.snapshot, host.requests).planned.score


@settings(max_examples=15)
@given(problems(most_threads=4))
def test_no_placement_is_below_the_bound(problem: PlacementProblem) -> None:
    if len(problem.cpus) > 12:
        return
    lowest = find(problem).score
    slack = 1e-6 * (1 + lowest)
    whole = lower_bound(problem)
    parts = lower_bound(problem, whole=False, merge=True)
    assert whole.exact and parts.exact
    assert parts.score <= whole.score + slack
    assert whole.score <= lowest + slack


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_large_hosts_plan_is_near_a_bound() -> None:
    """256 CPUs, 500 entities: the linear program proves how far the plan can be from the best."""
    random = np.random.default_rng(0)
    host = host_instance(BIG, random, guests=8, vcpus=16, threads=317, queues=64)
    plan = plan_host(host.snapshot, host.requests)
    arrays = plan.planned.problem.arrays
    assert (len(arrays.cpus), len(arrays.threads)) == (256, 500)
    bound = lower_bound(arrays, whole=False, merge=True, least_weight=1e-3)
    assert bound.exact
    assert bound.score <= plan.planned.score <= 1.15 * bound.score
    assert plan.rule is not None and plan.planned.score < plan.rule.score
