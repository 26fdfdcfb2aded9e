"""From a snapshot to a placement problem."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from vas_affinity.cpulist import format_cpulist
from vas_affinity.distance import Distances
from vas_affinity.distance.matrix import Bools, Ints
from vas_affinity.score import Problem
from vas_affinity.snapshot import Role, Snapshot, Thread
from vas_affinity.thread_plan import matrices
from vas_affinity.thread_plan.graph import Graph
from vas_affinity.thread_plan.interrupts import Firing, firing
from vas_affinity.thread_plan.settings import ThreadSettings
from vas_core.errors import BadInput

_PLACED = (Role.STORAGE, Role.SERVICE, Role.VHOST)
_IO_ROLES = (Role.STORAGE, Role.VHOST)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a plan may know beside the snapshot.

    `graph` is who communicates; `memory` (by process id) the share of its memory on each node;
    `io` a pattern of the keys of threads that do I/O, beside those whose role or device says so;
    `only` one of the keys of the threads to place.
    """

    graph: Graph = field(default_factory=dict)
    memory: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    io: re.Pattern[str] | None = None
    only: re.Pattern[str] | None = None


@dataclass(frozen=True, eq=False)
class Posed:
    """A problem, the threads of its rows, and where they are today (-1: not known)."""

    snapshot: Snapshot
    threads: tuple[Thread, ...]
    problem: Problem
    today: Ints
    firing: Firing
    io: Bools
    notes: tuple[str, ...]

    @property
    def start(self) -> Ints:
        """Where to search from: today's places, the cheapest CPU of a thread that has none."""
        return np.where(self.today < 0, self.problem.alone.argmin(axis=1), self.today)


def pose(snapshot: Snapshot, distances: Distances, known: Known, settings: ThreadSettings) -> Posed:
    """The problem of placing the snapshot's storage, service and vhost threads.

    A guest's vCPUs, emulator and iothreads stay where they are: their plan is the guest's. Raises
    BadInput without a thread to place, or a CPU to place it on.
    """
    threads = _threads(snapshot, known)
    where = firing(snapshot)
    weights = settings.weights
    io = np.array([_does_io(thread, known) for thread in threads])
    activity = np.array([1.0 if t.cpu is None else min(1.0, t.cpu) for t in threads])
    times = matrices.raised(io, activity, weights)
    linked = matrices.links(snapshot, threads, distances, known.graph, times)
    counted = np.where(io, np.maximum(activity, weights.least_io), 0.0)
    forbidden, notes = _forbidden(snapshot, distances, where, io, settings)
    problem = Problem(
        threads=tuple(thread.key for thread in threads),
        cpus=distances.cpus,
        distance=distances.between,
        core=np.array([snapshot.topology.cpu(cpu).core for cpu in distances.cpus]),
        communication=linked.between,
        activity=activity,
        background=matrices.background(snapshot, threads, distances),
        anchor=linked.anchor,
        interrupt=matrices.interrupt(threads, distances, where, counted, weights),
        memory=matrices.memory(threads, distances, known.memory),
        forbidden=forbidden,
        weights=weights,
    )
    index = distances.index
    today = np.array([-1 if t.last_cpu is None else index.get(t.last_cpu, -1) for t in threads])
    said = (*_unknown(threads, known), *notes, *where.notes)
    return Posed(snapshot, threads, problem, today, where, io, said)


def _threads(snapshot: Snapshot, known: Known) -> tuple[Thread, ...]:
    placed = [thread for thread in snapshot.threads if thread.role in _PLACED]
    threads = tuple(t for t in placed if known.only is None or known.only.search(t.key))
    if not threads:
        if placed:
            raise BadInput(f"fits none of {len(placed)} threads' keys", where="--only")
        what = "there is no thread to place"
        hint = "name processes with --process, of this host or when `vas affinity show` captures it"
        raise BadInput(what, where=snapshot.host, hint=hint)
    return threads


def _does_io(thread: Thread, known: Known) -> bool:
    named = known.io is not None and known.io.search(thread.key) is not None
    return named or thread.role in _IO_ROLES or thread.device is not None


def _unknown(threads: tuple[Thread, ...], known: Known) -> list[str]:
    notes = []
    unmeasured = sum(thread.cpu is None for thread in threads)
    if unmeasured:
        notes.append(f"{unmeasured} threads' CPU use is not known: taken for always active")
    if not known.graph:
        notes.append("no communication graph is given: how near threads are to each other is free")
    return notes


def _forbidden(
    snapshot: Snapshot,
    distances: Distances,
    where: Firing,
    io: Bools,
    settings: ThreadSettings,
) -> tuple[Bools, list[str]]:
    """T x C: CPUs that are not to be used, and [NS] for I/O threads, or the slides' every one."""
    usable = _usable(snapshot, distances, settings)
    network = matrices.network_cores(snapshot, distances, where)
    if not (usable & ~network).any():
        why = "every usable CPU takes network interrupts: [NS] cannot be avoided"
        return np.tile(~usable, (len(io), 1)), [why]
    asked = io if settings.policy == "score" else np.ones_like(io)
    return ~usable[None, :] | np.outer(asked, network), []


def _usable(snapshot: Snapshot, distances: Distances, settings: ThreadSettings) -> Bools:
    topology = snapshot.topology
    if settings.cpus:
        usable = np.isin(distances.cpus, settings.cpus)
    else:
        usable = np.array([not topology.cpu(cpu).isolated for cpu in distances.cpus])
        usable = usable if usable.any() else ~usable
    if not usable.any():
        what = f"none of the CPUs {format_cpulist(settings.cpus)} is online"
        hint = f"online are {format_cpulist(topology.online)}"
        raise BadInput(what, where=snapshot.host, hint=hint)
    return usable
