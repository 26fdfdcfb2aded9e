"""Computes the arrays of each term of the score from a snapshot's threads. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vas_affinity.machine.distance import Distances
from vas_affinity.machine.distance.matrix import Bools, Floats
from vas_affinity.machine.snapshot import Snapshot, Thread
from vas_affinity.search.score.weights import Weights
from vas_affinity.threads.graph import PairWeights
from vas_affinity.threads.interrupts import Firing
from vas_affinity.threads.letters import FORBIDDEN, label, letters

_BUSY_IO = 0.5  # of the busiest I/O thread's use


@dataclass(frozen=True, eq=False)
class ThreadLinks:
    """Communication among the threads to place (T x T), and with those that stay (T x C)."""

    between: Floats
    anchor: Floats


def links(
    snapshot: Snapshot,
    threads: Sequence[Thread],
    distances: Distances,
    graph: PairWeights,
    times: Floats,
) -> ThreadLinks:
    """Returns the graph's weights times each thread's factor in `times` (T).

    They are scaled so that the weights of the busiest communicator add up to 1.
    """
    rows = {thread.key: row for row, thread in enumerate(threads)}
    stays = {t.key: t.last_cpu for t in snapshot.threads if t.key not in rows}
    between = np.zeros((len(threads), len(threads)))
    anchor, sums = np.zeros((len(threads), len(distances.cpus))), np.zeros(len(threads))
    for (a, b), weight in graph.items():
        for one, other in ((a, b), (b, a)):
            row = rows.get(one)
            if row is None:
                continue
            if other in rows:
                counted = weight * max(times[row], times[rows[other]])
                between[row, rows[other]] += counted
                sums[row] += counted
            elif (cpu := stays.get(other)) in distances.index:
                anchor[row] += weight * times[row] * distances.between[distances.index[cpu]]
                sums[row] += weight * times[row]
    largest = max(float(sums.max(initial=0.0)), 1e-12)
    return ThreadLinks(between / largest, anchor / largest)


def raised(io: Bools, activity: Floats, weights: Weights) -> Floats:
    """Returns the factor of each thread's communication (T), raised for the busiest I/O threads."""
    busiest = float(np.where(io, activity, 0.0).max(initial=0.0))
    return np.where(io & (activity >= _BUSY_IO * busiest), weights.busiest_io, 1.0)


def interrupt(
    threads: Sequence[Thread],
    distances: Distances,
    where: Firing,
    counted: Floats,
    weights: Weights,
) -> Floats:
    """Returns each I/O thread's distance from its device's interrupts, times `counted` (T x C).

    A thread whose device is not known counts its distance from any storage interrupt; a network
    device's thread (a vhost thread) counts its network's only.
    """
    network = _nearest(distances, where.network_cpus)
    rows = []
    for thread in threads:
        if where.serves_network(thread):
            own = where.network.get(thread.device or "", where.network_cpus)
            rows.append(_nearest(distances, own))
        else:
            disk = _nearest(distances, where.disk_cpus(thread))
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
    threads: Sequence[Thread],
    distances: Distances,
    shares: Mapping[int, Mapping[int, float]],
) -> Floats:
    """Returns each thread's extra distance from its process's memory, times its CPU use (T x C).

    `shares` is process -> node -> share of its memory; local memory has no extra distance.
    """
    columns = {node: column for column, node in enumerate(distances.nodes)}
    extra = distances.memory - distances.memory.min(axis=1, keepdims=True)
    found = np.zeros((len(threads), len(distances.cpus)))
    for row, thread in enumerate(threads):
        use = 1.0 if thread.cpu is None else min(1.0, thread.cpu)
        for node, share in shares.get(thread.pid, {}).items():
            if node in columns:
                found[row] += use * share * extra[:, columns[node]]
    return found


def background(snapshot: Snapshot, placed: Sequence[Thread], distances: Distances) -> Floats:
    """Returns the CPU use, by CPU (C), of the threads that stay where they are."""
    keys = {thread.key for thread in placed}
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
