"""Distances from a topology alone, by table 3 of the thread manager (Martins and Harker)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vas_affinity.machine.distance.matrix import Distances, Floats
from vas_affinity.machine.topology import MachineTopology, NumaNode

_LOCAL_SLIT = 10
_BRIDGE_SLACK = 1.2  # a node this much farther than the nearest remote one has no bridge to it


@dataclass(frozen=True)
class RatioTable:
    """Relative time to send data between two threads, table 3 of the paper.

    `l1` is for two threads of one core, and of one CPU: sharing it is another term of the score.
    """

    l1: float = 1
    l2: float = 2
    l3: float = 6
    local_memory: float = 10
    remote_memory: float = 83
    no_cross_bridge: float = 113

    def same_package(self, slit: float | None, bridge: float | None) -> float:
        """Returns the distance of two nodes of one package, which the paper's machine lacked.

        Interpolates between local and remote memory by the firmware's distance (`slit`; `bridge`
        is that of the nearest other package). Their geometric mean if the firmware says nothing.
        """
        if slit is None or bridge is None or bridge <= _LOCAL_SLIT:
            return float(np.sqrt(self.local_memory * self.remote_memory))
        part = min(1.0, max(0.0, (slit - _LOCAL_SLIT) / (bridge - _LOCAL_SLIT)))
        return self.local_memory + part * (self.remote_memory - self.local_memory)


RATIO = RatioTable()


def ratio_distances(topology: MachineTopology, ratio: RatioTable = RATIO) -> Distances:
    """Returns the distances of the online CPUs, by the smallest group that both belong to."""
    numbers = topology.online
    cpus = [topology.by_number[number] for number in numbers]
    nodes = _nodes(topology)
    hops = _hops(topology, nodes, ratio)
    places = [nodes.index(cpu.node) if cpu.node is not None else -1 for cpu in cpus]
    node = np.array(places, dtype=np.intp)
    far = hops[np.ix_(node, node)]
    unknown = (node < 0)[:, None] | (node < 0)[None, :]
    far = np.where(unknown, _packages(topology, ratio), far)
    between = far
    local = _same(node) & ~unknown
    for group, value in (
        (local, ratio.local_memory),
        (_same(np.array([cpu.l3 for cpu in cpus])), ratio.l3),
        (_same(np.array([cpu.l2 for cpu in cpus])), ratio.l2),
        (_same(np.array([cpu.core for cpu in cpus])), ratio.l1),
    ):
        between = np.where(group, value, between)
    memory = np.where((node < 0)[:, None], ratio.local_memory, hops[node])
    return Distances(numbers, between, nodes, memory, "the thread manager's ratio table")


def _same(group: NDArray[np.intp]) -> NDArray[np.bool_]:
    return np.asarray(group[:, None] == group[None, :])


def _nodes(topology: MachineTopology) -> tuple[int, ...]:
    found = {node.number for node in topology.nodes}
    return tuple(sorted(found | {cpu.node for cpu in topology.cpus if cpu.node is not None})) or (
        0,
    )


def _packages(topology: MachineTopology, ratio: RatioTable) -> Floats:
    package = np.array([topology.by_number[number].package for number in topology.online])
    return np.where(_same(package), ratio.local_memory, ratio.remote_memory)


def _hops(topology: MachineTopology, nodes: tuple[int, ...], ratio: RatioTable) -> Floats:
    known = {node.number: node for node in topology.nodes}
    packages = {node: {cpu.package for cpu in topology.cpus if cpu.node == node} for node in nodes}
    pairs = [(a, b) for a in nodes for b in nodes if a != b]
    across = [_slit(known, a, b) for a, b in pairs if not packages[a] & packages[b]]
    bridge = min((slit for slit in across if slit is not None), default=None)
    hops = np.full((len(nodes), len(nodes)), ratio.local_memory)
    for a, b in pairs:
        slit = _slit(known, a, b)
        if packages[a] & packages[b]:
            far = ratio.same_package(slit, bridge)
        elif slit is not None and bridge is not None and slit > bridge * _BRIDGE_SLACK:
            far = ratio.no_cross_bridge
        else:
            far = ratio.remote_memory
        hops[nodes.index(a), nodes.index(b)] = far
    return np.asarray(np.maximum(hops, hops.T))


def _slit(known: dict[int, NumaNode], one: int, other: int) -> float | None:
    node = known.get(one)
    return None if node is None else node.distances.get(other)
