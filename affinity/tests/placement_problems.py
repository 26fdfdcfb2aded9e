"""Random problems for tests of the score and the search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.search.score.problem import PlacementProblem
from vas_bench.search.instances import instance, machine

MACHINES = st.builds(
    machine,
    packages=st.integers(1, 2),
    nodes=st.integers(1, 2),
    caches=st.integers(1, 2),
    cores=st.integers(1, 3),
    threads=st.integers(1, 2),
)


@st.composite
def problems(draw: st.DrawFn, most_threads: int = 12) -> PlacementProblem:
    """A problem on a regular machine of 1 to 48 CPUs."""
    seed, threads = draw(st.integers(0, 2**32 - 1)), draw(st.integers(2, most_threads))
    return instance(draw(MACHINES), threads, np.random.default_rng(seed))


def parted(problem: PlacementProblem, seed: int, share: float) -> PlacementProblem:
    """The problem with a share of the pairs apart, as far as every thread can have a core."""
    random = np.random.default_rng(seed)
    count = len(problem.threads)
    cores = len(set(problem.core.tolist()))
    team = random.integers(0, max(1, cores // 2), count)
    apart = (team[:, None] != team[None, :]) & (random.random((count, count)) < share)
    apart |= apart.T
    wide = random.random(count) < 0.3
    own = np.triu(random.random((count, count)) < 0.1, 1)
    background = random.random(len(problem.cpus))
    return replace(problem, apart=apart, own=own | own.T, wide=wide, background=background)


@st.composite
def parted_problems(draw: st.DrawFn, most_threads: int = 12) -> PlacementProblem:
    """A problem in which some pairs must not share a core."""
    problem = draw(problems(most_threads))
    return parted(problem, draw(st.integers(0, 99)), draw(st.sampled_from([0.3, 1.0])))


@st.composite
def placed(draw: st.DrawFn, most_threads: int = 12) -> tuple[PlacementProblem, Ints]:
    """A problem and a placement that nothing forbids."""
    problem = draw(st.one_of(problems(most_threads), parted_problems(most_threads)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    free = [np.flatnonzero(np.isfinite(row)) for row in problem.alone]
    return problem, np.array([random.choice(cpus) for cpus in free], dtype=np.intp)
