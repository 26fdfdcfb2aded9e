"""Measures the search: its speed, its distance from the optimum, a big plan's time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from statistics import mean
from typing import Any

import numpy as np

from vas_affinity.joint import every_home, plan_host
from vas_affinity.search import Effort, find
from vas_affinity.search.assignment import Assignment
from vas_affinity.search.exact import optimum
from vas_affinity.search.local import settle
from vas_affinity.search.score import PlacementProblem, score
from vas_bench.search.bound import lower_bound
from vas_bench.search.hosts import HostInstance, host_instance
from vas_bench.search.instances import instance, machine

BIG_THREADS = 500
_RUNS = 5
_BRANCHES = 200_000
_BOUND_GAP = 1e-3
_JOINT = (
    machine(packages=2, nodes=1, caches=1, cores=4, threads=2),
    machine(packages=1, nodes=2, caches=2, cores=4, threads=1),
)
_SMALL = (
    machine(packages=2, nodes=1, caches=1, cores=2, threads=2),
    machine(packages=1, nodes=2, caches=2, cores=2, threads=1),
    machine(packages=2, nodes=1, caches=1, cores=3, threads=1),
)


@dataclass(frozen=True)
class Speed:
    """The speed of the search: how many what-ifs one process evaluates per second of wall time.

    `cpu_seconds` is the CPU time that it got in `seconds`.
    """

    what_ifs_per_second: float
    what_ifs: int
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class BigPlan:
    """The plan of a large host: from posing the problem to the placement."""

    cpus: int
    threads: int
    seconds: float
    cpu_seconds: float
    start_score: float
    score: float
    what_ifs_per_second: float


@dataclass(frozen=True)
class Gap:
    """The distance of local search alone above the optimum, on small problems: 0.01 is 1 %."""

    instances: int
    proved: int
    mean: float
    worst: float


def big_problem(seed: int) -> PlacementProblem:
    """Makes a host of 2 packages, 8 nodes, 16 caches and 256 CPUs, with 500 threads."""
    topology = machine(packages=2, nodes=4, caches=2, cores=8, threads=2)
    return instance(topology, BIG_THREADS, np.random.default_rng(seed))


def speed(problem: PlacementProblem, seed: int, seconds: float) -> Speed:
    """Searches several times for so many seconds, from a random placement.

    All that a search evaluates counts, and the moves that it makes take their time too. The best
    of the runs is given: others' use of the CPUs only ever slows one down.
    """
    runs = (_run(problem, seed + n, seconds) for n in range(_RUNS))
    return max(runs, key=attrgetter("what_ifs_per_second"))


def _run(problem: PlacementProblem, seed: int, seconds: float) -> Speed:
    assignment = Assignment(problem, _anywhere(problem, seed))
    started, cpu = time.perf_counter(), time.process_time()
    end = started + seconds
    random = np.random.default_rng(seed)
    settle(assignment, perturbations=10**9, random=random, late=lambda: time.perf_counter() > end)
    spent = time.perf_counter() - started
    rate = assignment.what_ifs / spent
    return Speed(rate, assignment.what_ifs, spent, time.process_time() - cpu)


def big_plan(seed: int, effort: Effort) -> BigPlan:
    """Makes and solves the large host's problem, from a random placement."""
    started, cpu = time.perf_counter(), time.process_time()
    problem = big_problem(seed)
    found = find(problem, _anywhere(problem, seed), effort)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    rate = found.what_ifs / seconds
    return BigPlan(
        len(problem.cpus), BIG_THREADS, seconds, cpu, found.start_score, found.score, rate
    )


def gap(seeds: Sequence[int], tick: Callable[[], None]) -> Gap:
    """Compares local search with branch and bound, with 4 to 6 threads on 8 CPUs or fewer."""
    gaps = []
    for seed in seeds:
        problem = instance(_SMALL[seed % 3], 4 + seed // 3 % 3, np.random.default_rng(seed))
        found = find(problem, None, Effort(seed=seed, branches=0))
        best = optimum(problem, found.places, found.score, branches=_BRANCHES)
        lowest = score(problem, best.places)
        if best.proved:
            gaps.append(found.score / lowest - 1 if lowest else 0.0)
        tick()
    return Gap(len(seeds), len(gaps), mean(gaps or [0.0]), max(gaps, default=0.0))


@dataclass(frozen=True)
class JointGap:
    """The distance of joint plans of guests above a bound that HiGHS proves: 0.01 is 1 %."""

    instances: int
    mean: float
    worst: float


def joint_gap(seeds: Sequence[int], tick: Callable[[], None]) -> JointGap:
    """Compares joint plans of small hosts with the lowest bound of all choices of nodes."""
    gaps = []
    for seed in seeds:
        topology = _JOINT[seed % len(_JOINT)]
        random = np.random.default_rng(seed)
        host = host_instance(topology, random, guests=1, vcpus=4, threads=2, queues=1)
        gaps.append(plan_host(host.snapshot, host.requests).planned.score / host_bound(host) - 1)
        tick()
    return JointGap(len(gaps), mean(gaps or [0.0]), max(gaps, default=0.0))


def host_bound(host: HostInstance) -> float:
    """Returns a score below which no plan of a host is, on whatever nodes its guests are."""
    starts = every_home(host.snapshot, host.requests)
    return min(lower_bound(start.problem.arrays, gap=_BOUND_GAP).score for start in starts)


def _anywhere(problem: PlacementProblem, seed: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    random = np.random.default_rng(seed)
    free = [np.flatnonzero(np.isfinite(row)) for row in problem.alone]
    return np.array([random.choice(cpus) for cpus in free], dtype=np.intp)


def as_json(seed: int, speed: Speed, plan: BigPlan, gap: Gap, joint: JointGap) -> dict[str, Any]:
    """Returns the result as JSON; the keys that the project promises come first."""
    return {
        "what_ifs_per_second": round(speed.what_ifs_per_second),
        "optimality_gap": gap.worst,
        "joint_gap": joint.worst,
        "plan_seconds": round(plan.seconds, 3),
        "seed": seed,
        "speed": asdict(speed),
        "plan": asdict(plan),
        "gap": asdict(gap),
        "joint": asdict(joint),
    }
