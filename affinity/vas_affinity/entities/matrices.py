"""Computes the arrays of each term of the score from a snapshot's entities. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vas_affinity.entities.entity import Entity
from vas_affinity.entities.firing import Firing
from vas_affinity.entities.graph import PairWeights
from vas_affinity.entities.letters import FORBIDDEN, label, letters
from vas_affinity.machine.distance import Distances
from vas_affinity.machine.distance.matrix import Bools, Floats
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.search.score.weights import Weights

_BUSY_IO = 0.5  # of the busiest I/O thread's use


@dataclass(frozen=True, eq=False)
class Links:
    """Communication among the entities to place (T x T), and with those that stay (T x C)."""

    between: Floats
    anchor: Floats


def links(
    snapshot: Snapshot,
    entities: Sequence[Entity],
    distances: Distances,
    graph: PairWeights,
    times: Floats,
) -> Links:
    """Returns the graph's weights times each entity's factor in `times` (T).

    They are scaled so that the weights of the busiest communicator add up to 1.
    """
    rows = {key: row for row, entity in enumerate(entities) for key in entity.members}
    stays = {t.key: t.last_cpu for t in snapshot.threads if t.key not in rows}
    between = np.zeros((len(entities), len(entities)))
    anchor, sums = np.zeros((len(entities), len(distances.cpus))), np.zeros(len(entities))
    for (a, b), weight in graph.items():
        for one, other in ((a, b), (b, a)):
            row = rows.get(one)
            if row is None:
                continue
            if rows.get(other) == row:
                continue  # within one virtual core
            if other in rows:
                counted = weight * max(times[row], times[rows[other]])
                between[row, rows[other]] += counted
                sums[row] += counted
            elif (cpu := stays.get(other)) in distances.index:
                anchor[row] += weight * times[row] * distances.between[distances.index[cpu]]
                sums[row] += weight * times[row]
    largest = max(float(sums.max(initial=0.0)), 1e-12)
    return Links(between / largest, anchor / largest)


def raised(io: Bools, activity: Floats, weights: Weights) -> Floats:
    """Returns the factor of each thread's communication (T), raised for the busiest I/O threads."""
    busiest = float(np.where(io, activity, 0.0).max(initial=0.0))
    return np.where(io & (activity >= _BUSY_IO * busiest), weights.busiest_io, 1.0)


def interrupt(
    entities: Sequence[Entity],
    distances: Distances,
    where: Firing,
    counted: Floats,
    weights: Weights,
) -> Floats:
    """Returns each entity's distance from its device's interrupts, times `counted` (T x C).

    One whose device is not known counts its distance from any storage interrupt; a network
    device's thread (a vhost thread) counts its network's only.
    """
    network = _nearest(distances, where.network_cpus)
    rows = []
    for entity in entities:
        if where.serves_network(entity):
            own = where.network.get(entity.device or "", where.network_cpus)
            rows.append(_nearest(distances, own))
        else:
            disk = _nearest(distances, where.disk_cpus(entity))
            rows.append(disk + weights.network * network)
    return counted[:, None] * np.array(rows)


def _nearest(distances: Distances, cpus: Sequence[int]) -> Floats:
    rows = distances.rows(cpus)
    if not rows:
        return np.zeros(len(distances.cpus))
    near = distances.between[:, rows].min(axis=1) - distances.between.min()
    near[rows] = 0.0
    return np.asarray(near)


def memory(
    use: Floats,
    distances: Distances,
    shares: Sequence[Mapping[int, float]],
) -> Floats:
    """Returns each entity's extra distance from its memory, times its CPU use (T x C).

    `shares` is node -> share of the memory, for each entity; local memory has no extra distance.
    """
    columns = {node: column for column, node in enumerate(distances.nodes)}
    extra = distances.memory - distances.memory.min(axis=1, keepdims=True)
    found = np.zeros((len(use), len(distances.cpus)))
    for row, by_node in enumerate(shares):
        for node, share in by_node.items():
            if node in columns:
                found[row] += use[row] * share * extra[:, columns[node]]
    return found


def background(snapshot: Snapshot, placed: Sequence[Entity], distances: Distances) -> Floats:
    """Returns the CPU use, by CPU (C), of the threads that stay where they are."""
    keys = {key for entity in placed for key in entity.members}
    use = np.zeros(len(distances.cpus))
    for thread in snapshot.threads:
        if thread.key not in keys and thread.last_cpu in distances.index:
            use[distances.index[thread.last_cpu]] += thread.cpu or 0.0
    return use


def network_cores(snapshot: Snapshot, distances: Distances, where: Firing) -> Bools:
    """Tells for each CPU (C) whether it is [NS], which an I/O thread must not use."""
    cpus = distances.cpus
    disk = letters(snapshot.topology, cpus, where.storage_of(None))
    network = letters(snapshot.topology, cpus, where.network_cpus)
    return np.array([label(d, n) == FORBIDDEN for d, n in zip(disk, network, strict=True)])
