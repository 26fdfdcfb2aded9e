"""The policy of the core affinity slides, with the cases decided that they leave open. Pure.

1. If the disk's interrupt core is idle, a service thread goes there.
2. If not: the first idle core in the order [DC], [DM], [DN], [NC], [NM], [NN].
3. Never [NS].

A core is idle if its CPUs' use over the snapshot's interval, and by the threads placed already,
adds up to less than a threshold. If no core is idle, the thread goes to the least used core; the
order decides between equals.
"""

from __future__ import annotations

import numpy as np

from vas_affinity.entities import HostProblem
from vas_affinity.entities.letters import letters, rank
from vas_affinity.machine.distance.matrix import Floats, Ints


def slides(problem: HostProblem, idle_below: float) -> tuple[Ints, tuple[str, ...]]:
    """Returns each thread's place, and notes. I/O threads choose first, the busiest of them first.

    A place is a row of the problem's CPUs.
    """
    arrays = problem.arrays
    use = _core_use(problem)
    places = np.zeros(len(problem.entities), dtype=np.intp)
    known: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    crowded = 0
    order = np.lexsort((-arrays.activity, ~problem.io))
    for row in order.tolist():
        disk = problem.firing.disk_cpus(problem.entities[row])
        if disk not in known:
            known[disk] = _ranks(problem, disk)
        ranks = known[disk]
        free = np.flatnonzero(~arrays.forbidden[row]).tolist()
        idle = [cpu for cpu in free if use[arrays.core[cpu]] < idle_below]
        crowded += not idle
        if idle:
            cpu = min(idle, key=lambda cpu: (ranks[cpu], cpu))
        else:
            used = np.round(use[arrays.core], 6).tolist()
            cpu = min(free, key=lambda cpu: (used[cpu], ranks[cpu], cpu))
        places[row] = cpu
        use[arrays.core[cpu]] += arrays.activity[row]
    return places, _notes(crowded, len(places), idle_below)


def _notes(crowded: int, threads: int, idle_below: float) -> tuple[str, ...]:
    if not crowded:
        return ()
    return (
        f"no core was idle (below {idle_below:g} of a CPU) for {crowded} of {threads} threads: "
        "each went to the least used one",
    )


def _core_use(problem: HostProblem) -> Floats:
    """Returns the use of each core, by its lowest CPU, by the threads that stay."""
    use = np.zeros(int(problem.arrays.core.max()) + 1)
    np.add.at(use, problem.arrays.core, problem.arrays.background)
    return use


def _ranks(problem: HostProblem, disk: tuple[int, ...]) -> list[tuple[int, int]]:
    """Returns the rank of each CPU in the slides' order."""
    topology, cpus = problem.snapshot.topology, problem.arrays.cpus
    to_disk = letters(topology, cpus, disk)
    to_network = letters(topology, cpus, problem.firing.network_cpus)
    return [rank(d, n) for d, n in zip(to_disk, to_network, strict=True)]
