"""Random problems for tests of the score and the search."""

from __future__ import annotations

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


@st.composite
def placed(draw: st.DrawFn, most_threads: int = 12) -> tuple[PlacementProblem, Ints]:
    """A problem and a placement that nothing forbids."""
    problem = draw(problems(most_threads))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    free = [np.flatnonzero(np.isfinite(row)) for row in problem.alone]
    return problem, np.array([random.choice(cpus) for cpus in free], dtype=np.intp)
