"""Turns a snapshot into the problem of placing its threads. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from vas_affinity.entities import matrices
from vas_affinity.entities.entity import Entity, EntityKind, entity_of
from vas_affinity.entities.firing import Firing, firing
from vas_affinity.entities.graph import PairWeights
from vas_affinity.entities.problem import HostProblem
from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.machine.distance import Distances
from vas_affinity.machine.distance.matrix import Bools
from vas_affinity.machine.snapshot import Snapshot, ThreadRole
from vas_affinity.search.score import PlacementProblem
from vas_affinity.threads.settings import ThreadPlanSettings
from vas_core.errors import BadInput

_PLACED = (ThreadRole.STORAGE, ThreadRole.SERVICE, ThreadRole.VHOST)
_IO_KINDS = (EntityKind.STORAGE, EntityKind.VHOST)


@dataclass(frozen=True, kw_only=True)
class ThreadPlanInput:
    """The input of a plan of threads besides the snapshot.

    `graph` says which threads communicate; `memory` is process -> node -> share of its memory;
    `io` matches the keys of further threads that do I/O, besides those whose role or device says
    so; `only` matches the keys of the threads to place.
    """

    graph: PairWeights = field(default_factory=dict)
    memory: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    io: re.Pattern[str] | None = None
    only: re.Pattern[str] | None = None


def thread_problem(
    snapshot: Snapshot, distances: Distances, known: ThreadPlanInput, settings: ThreadPlanSettings
) -> HostProblem:
    """Returns the problem of placing the snapshot's storage, service and vhost threads.

    A guest's vCPUs, emulator and iothreads stay where they are: the plan for guests places them.
    Raises BadInput without a thread to place, or a CPU to place it on.
    """
    threads = _threads(snapshot, known)
    where = firing(snapshot)
    weights = settings.weights
    io = np.array([_does_io(thread, known) for thread in threads])
    activity = np.array([1.0 if t.use is None else min(1.0, t.use) for t in threads])
    times = matrices.raised(io, activity, weights)
    linked = matrices.links(snapshot, threads, distances, known.graph, times)
    pids = [-1 if thread.thread is None else thread.thread.pid for thread in threads]
    shares = [known.memory.get(pid, {}) for pid in pids]
    counted = np.where(io, np.maximum(activity, weights.least_io), 0.0)
    forbidden, notes = _forbidden(snapshot, distances, where, io, settings)
    arrays = PlacementProblem(
        threads=tuple(thread.key for thread in threads),
        cpus=distances.cpus,
        distance=distances.between,
        core=np.array([snapshot.topology.cpu(cpu).core for cpu in distances.cpus]),
        communication=linked.between,
        activity=activity,
        background=matrices.background(snapshot, threads, distances),
        anchor=linked.anchor,
        interrupt=matrices.interrupt(threads, distances, where, counted, weights),
        memory=matrices.memory(activity, distances, shares),
        forbidden=forbidden,
        weights=weights,
    )
    index = distances.index
    today = np.array([-1 if t.cpu is None else index.get(t.cpu, -1) for t in threads])
    said = (*_unknown(threads, known), *notes, *where.notes)
    return HostProblem(snapshot, threads, arrays, today, where, io, said)


def _threads(snapshot: Snapshot, known: ThreadPlanInput) -> tuple[Entity, ...]:
    placed = [thread for thread in snapshot.threads if thread.role in _PLACED]
    threads = tuple(t for t in placed if known.only is None or known.only.search(t.key))
    if not threads:
        if placed:
            raise BadInput(f"fits none of {len(placed)} threads' keys", where="--only")
        what = "the snapshot has no thread to place"
        hint = "name processes with --process, of this host or when `vas affinity show` captures it"
        raise BadInput(what, where=snapshot.host, hint=hint)
    return tuple(map(entity_of, threads))


def _does_io(thread: Entity, known: ThreadPlanInput) -> bool:
    named = known.io is not None and known.io.search(thread.key) is not None
    return named or thread.kind in _IO_KINDS or thread.device is not None


def _unknown(threads: tuple[Entity, ...], known: ThreadPlanInput) -> list[str]:
    notes = []
    unmeasured = sum(thread.use is None for thread in threads)
    if unmeasured:
        notes.append(f"{unmeasured} threads' CPU use is not known: taken for always active")
    if not known.graph:
        notes.append(
            "no pair of threads is known to communicate: how near they are to each other is free"
        )
    return notes


def _forbidden(
    snapshot: Snapshot,
    distances: Distances,
    where: Firing,
    io: Bools,
    settings: ThreadPlanSettings,
) -> tuple[Bools, list[str]]:
    """Returns the forbidden places (T x C), and notes.

    Forbidden are CPUs that may not be used, and [NS] for I/O threads; for all with the slides.
    """
    usable = _usable(snapshot, distances, settings)
    network = matrices.network_cores(snapshot, distances, where)
    if not (usable & ~network).any():
        why = "every usable CPU takes network interrupts: [NS] cannot be avoided"
        return np.tile(~usable, (len(io), 1)), [why]
    asked = io if settings.policy == "score" else np.ones_like(io)
    return ~usable[None, :] | np.outer(asked, network), []


def _usable(snapshot: Snapshot, distances: Distances, settings: ThreadPlanSettings) -> Bools:
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
