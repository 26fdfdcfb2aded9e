"""Makes problems to measure and test the search with."""

from __future__ import annotations

import numpy as np

from vas_affinity.machine.distance.matrix import Floats
from vas_affinity.machine.distance.ratio import ratio_distances
from vas_affinity.machine.topology import Cpu, MachineTopology, NumaNode
from vas_affinity.search.score.problem import PlacementProblem


def machine(*, packages: int, nodes: int, caches: int, cores: int, threads: int) -> MachineTopology:
    """Makes a regular machine: `nodes` a package, `caches` (L3) a node, `cores` a cache."""
    each = (nodes * caches * cores * threads, caches * cores * threads, cores * threads, threads)
    cpus = [
        Cpu(
            number=number,
            package=number // each[0] * each[0],
            die=number // each[0] * each[0],
            node=number // each[1],
            l3=number // each[2] * each[2],
            l2=number // each[3] * each[3],
            core=number // each[3] * each[3],
        )
        for number in range(packages * each[0])
    ]
    total = packages * nodes
    spread = [
        NumaNode(
            number=one,
            memory_bytes=64 << 30,
            distances={
                other: 10 if one == other else 12 if one // nodes == other // nodes else 32
                for other in range(total)
            },
        )
        for one in range(total)
    ]
    return MachineTopology(name=f"{len(cpus)} CPUs", cpus=tuple(cpus), nodes=tuple(spread))


def instance(
    topology: MachineTopology, threads: int, random: np.random.Generator
) -> PlacementProblem:
    """Makes a problem: pipelines of threads, some links across, I/O threads near interrupts."""
    distances = ratio_distances(topology)
    count = len(distances.cpus)
    fires = random.choice(count, size=max(1, count // 32), replace=False)
    near = distances.between[:, fires].min(axis=1) - 1
    is_io = random.random(threads) < 0.2
    interrupt = np.outer(is_io * random.uniform(0.1, 1, threads), near)
    forbidden = np.outer(is_io, random.random(count) < 0.05)
    forbidden[:, fires[0]] = False
    home = random.integers(0, len(distances.nodes), threads)
    has_home = random.random(threads) < 0.5
    return PlacementProblem(
        threads=tuple(f"t{number}" for number in range(threads)),
        cpus=distances.cpus,
        distance=distances.between,
        core=np.array([topology.by_number[cpu].core for cpu in distances.cpus]),
        communication=_pipelines(threads, random),
        activity=random.uniform(0.05, 1, threads),
        background=np.zeros(count),
        anchor=np.zeros((threads, count)),
        interrupt=interrupt,
        forbidden=forbidden,
        memory=np.where(has_home[:, None], (distances.memory - 10)[:, home].T, 0.0),
    )


def _pipelines(threads: int, random: np.random.Generator) -> Floats:
    weights = np.zeros((threads, threads))
    order = random.permutation(threads)
    stage = np.flatnonzero(np.arange(threads - 1) % 7 < 6)
    weights[order[stage], order[stage + 1]] = random.uniform(0.1, 1, len(stage))
    for _ in range(threads):
        one, other = random.choice(threads, size=2, replace=False)
        weights[one, other] += random.uniform(0, 0.3)
    weights = weights + weights.T
    np.fill_diagonal(weights, 0)
    return np.asarray(weights / weights.sum(axis=1).max(initial=1e-9))
