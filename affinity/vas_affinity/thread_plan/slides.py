"""The policy of the core affinity slides, as it stands, and what they leave open decided.

1. If the disk's interrupt core is idle, a service thread goes there.
2. If not: the first idle core in the order [DC], [DM], [DN], [NC], [NM], [NN].
3. Never [NS].

Idle is a core whose CPUs' use adds up to less than a threshold, over the snapshot's interval and
with what is placed already. Where none is idle, the least used core takes it, the order deciding
between equals.
"""

from __future__ import annotations

import numpy as np

from vas_affinity.distance.matrix import Floats, Ints
from vas_affinity.thread_plan.letters import letters, rank
from vas_affinity.thread_plan.pose import Posed


def slides(posed: Posed, idle_below: float) -> tuple[Ints, tuple[str, ...]]:
    """Each thread's place, I/O threads' first and the busiest of them, and notes."""
    problem = posed.problem
    use = _core_use(posed)
    places = np.zeros(len(posed.threads), dtype=np.intp)
    known: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    crowded = 0
    order = np.lexsort((-problem.activity, ~posed.io))
    for row in order.tolist():
        disk = posed.firing.disk_cpus(posed.threads[row])
        if disk not in known:
            known[disk] = _ranks(posed, disk)
        ranks = known[disk]
        free = np.flatnonzero(~problem.forbidden[row]).tolist()
        idle = [cpu for cpu in free if use[problem.core[cpu]] < idle_below]
        crowded += not idle
        if idle:
            cpu = min(idle, key=lambda cpu: (ranks[cpu], cpu))
        else:
            used = np.round(use[problem.core], 6).tolist()
            cpu = min(free, key=lambda cpu: (used[cpu], ranks[cpu], cpu))
        places[row] = cpu
        use[problem.core[cpu]] += problem.activity[row]
    return places, _notes(crowded, len(places), idle_below)


def _notes(crowded: int, threads: int, idle_below: float) -> tuple[str, ...]:
    if not crowded:
        return ()
    return (
        f"no core was idle (below {idle_below:g} of a CPU) for {crowded} of {threads} threads: "
        "each went to the least used one",
    )


def _core_use(posed: Posed) -> Floats:
    """Use by core (its lowest CPU), of what stays."""
    use = np.zeros(int(posed.problem.core.max()) + 1)
    np.add.at(use, posed.problem.core, posed.problem.background)
    return use


def _ranks(posed: Posed, disk: tuple[int, ...]) -> list[tuple[int, int]]:
    """Each CPU's place in the slides' order."""
    topology, cpus = posed.snapshot.topology, posed.problem.cpus
    to_disk = letters(topology, cpus, disk)
    to_network = letters(topology, cpus, posed.firing.network_cpus)
    return [rank(d, n) for d, n in zip(to_disk, to_network, strict=True)]
