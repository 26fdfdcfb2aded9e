"""Explains in words why a thread is on its CPU. Pure."""

from __future__ import annotations

import numpy as np

from vas_affinity.entities.letters import label, letters
from vas_affinity.entities.problem import HostProblem
from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.machine.topology import Nearness

_NEAR = {
    Nearness.SAME: "on the same CPU as",
    Nearness.CORE: "on the core of",
    Nearness.CACHE: "in the cache of",
    Nearness.MEMORY: "on the node of",
    Nearness.PACKAGE: "in the package of",
    Nearness.NONE: "in another package than",
}


def reasons(problem: HostProblem, places: Ints) -> list[str]:
    """Returns a line for each thread: its interrupts, its partner, and who shares its core."""
    return [
        "; ".join(
            filter(None, (tell(problem, row, places) for tell in (_device, _partner, _company)))
        )
        for row in range(len(places))
    ]


def _device(problem: HostProblem, row: int, places: Ints) -> str:
    if not problem.io[row]:
        return ""
    thread, where = problem.entities[row], problem.firing
    cpu = problem.arrays.cpus[places[row]]
    topology = problem.snapshot.topology
    disk = where.disk_cpus(thread)
    targets = disk or where.network_cpus
    if not targets:
        return ""
    nearness, nearest = min((topology.nearness(cpu, other), other) for other in targets)
    (d,), (n,) = letters(topology, [cpu], disk), letters(topology, [cpu], where.network_cpus)
    names = ", ".join(where.devices(nearest))
    return f"[{label(d, n)}] {_NEAR[nearness]} CPU {nearest} ({names})"


def _partner(problem: HostProblem, row: int, places: Ints) -> str:
    weights = problem.arrays.communication[row]
    if not weights.any():
        return ""
    other = int(np.argmax(weights))
    cpus = problem.arrays.cpus
    nearness = problem.snapshot.topology.nearness(cpus[places[row]], cpus[places[other]])
    more = int(np.count_nonzero(weights)) - 1
    among = f", the busiest of {more + 1} it talks to" if more else ", which it talks to"
    return f"{_NEAR[nearness]} {problem.entities[other].key}{among}"


def _company(problem: HostProblem, row: int, places: Ints) -> str:
    core = problem.arrays.core
    same = int(np.count_nonzero(places == places[row])) - 1
    beside = int(np.count_nonzero(core[places] == core[places[row]])) - 1 - same
    if same:
        return f"{same} more of the plan on its CPU"
    return f"{beside} more on its core's other CPU" if beside else "none other on its core"
