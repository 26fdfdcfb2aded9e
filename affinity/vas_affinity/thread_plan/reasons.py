"""Why a thread is where it is, in words."""

from __future__ import annotations

import numpy as np

from vas_affinity.distance.matrix import Ints
from vas_affinity.thread_plan.letters import label, letters
from vas_affinity.thread_plan.pose import Posed
from vas_affinity.topology import Nearness

_NEAR = {
    Nearness.SAME: "on the same CPU as",
    Nearness.CORE: "on the core of",
    Nearness.CACHE: "in the cache of",
    Nearness.MEMORY: "on the node of",
    Nearness.PACKAGE: "in the package of",
    Nearness.NONE: "in another package than",
}


def reasons(posed: Posed, places: Ints) -> list[str]:
    """A line for each thread: its interrupts, whom it communicates with, who shares its core."""
    return [
        "; ".join(
            filter(None, (tell(posed, row, places) for tell in (_device, _partner, _company)))
        )
        for row in range(len(places))
    ]


def _device(posed: Posed, row: int, places: Ints) -> str:
    if not posed.io[row]:
        return ""
    thread, where = posed.threads[row], posed.firing
    cpu = posed.problem.cpus[places[row]]
    topology = posed.snapshot.topology
    disk = where.disk_cpus(thread)
    targets = disk or where.network_cpus
    if not targets:
        return ""
    nearness, nearest = min((topology.nearness(cpu, other), other) for other in targets)
    (d,), (n,) = letters(topology, [cpu], disk), letters(topology, [cpu], where.network_cpus)
    names = ", ".join(where.devices(nearest))
    return f"[{label(d, n)}] {_NEAR[nearness]} CPU {nearest} ({names})"


def _partner(posed: Posed, row: int, places: Ints) -> str:
    weights = posed.problem.communication[row]
    if not weights.any():
        return ""
    other = int(np.argmax(weights))
    cpus = posed.problem.cpus
    nearness = posed.snapshot.topology.nearness(cpus[places[row]], cpus[places[other]])
    more = int(np.count_nonzero(weights)) - 1
    among = f", the busiest of {more + 1} it talks to" if more else ", which it talks to"
    return f"{_NEAR[nearness]} {posed.threads[other].key}{among}"


def _company(posed: Posed, row: int, places: Ints) -> str:
    core = posed.problem.core
    same = int(np.count_nonzero(places == places[row])) - 1
    beside = int(np.count_nonzero(core[places] == core[places[row]])) - 1 - same
    if same:
        return f"{same} more of the plan on its CPU"
    return f"{beside} more on its core's other CPU" if beside else "none other on its core"
