"""The optimum of a placement problem by an integer program: HiGHS, as a test's oracle only."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.search.score import PlacementProblem


def optimal(problem: PlacementProblem) -> Ints:
    """The best placement, proved. Adams and Johnson's linearisation: a variable for each CPU of
    a thread and one for each two CPUs of two threads, whose sums over either CPU agree."""
    threads, cpus = len(problem.threads), len(problem.cpus)
    pairs = list(itertools.combinations(range(threads), 2))
    singles = threads * cpus
    forbidden = ~np.isfinite(problem.alone)
    costs = [np.where(forbidden, 0.0, problem.alone).ravel()]
    rows = [sparse.kron(sparse.eye(threads), np.ones((1, cpus)), format="lil")]
    blocks, ones = [], np.ones((1, cpus))
    for number, (one, other) in enumerate(pairs):
        active = problem.activity[one] * problem.activity[other]
        near = problem.weighted[one, other] * problem.distance
        costs.append((near + active * problem.sharing).ravel())
        for thread, sums in (
            (one, sparse.kron(sparse.eye(cpus), ones)),
            (other, sparse.kron(ones, sparse.eye(cpus))),
        ):
            at = sparse.lil_matrix((1, threads))
            at[0, thread] = -1
            pair = sparse.lil_matrix((1, len(pairs)))
            pair[0, number] = 1
            blocks.append(
                sparse.hstack([sparse.kron(at, sparse.eye(cpus)), sparse.kron(pair, sums)])
            )
    first = sparse.hstack([rows[0], sparse.csr_matrix((threads, len(pairs) * cpus * cpus))])
    matrix = sparse.vstack([first, *blocks], format="csr")
    equal = np.concatenate([np.ones(threads), np.zeros(matrix.shape[0] - threads)])
    upper = np.ones(matrix.shape[1])
    upper[:singles][forbidden.ravel()] = 0
    kind = np.zeros(matrix.shape[1])
    kind[:singles] = 1
    found = milp(
        np.concatenate(costs),
        constraints=LinearConstraint(matrix, equal, equal),
        bounds=Bounds(np.zeros_like(upper), upper),
        integrality=kind,
        options={"mip_rel_gap": 0.0},
    )
    assert found.status == 0, found.message
    return np.asarray(found.x[:singles].reshape(threads, cpus).argmax(axis=1), dtype=np.intp)
