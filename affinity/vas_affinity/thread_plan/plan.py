"""A host's plan for its threads. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from vas_affinity.distance import Distances, ratio_distances
from vas_affinity.distance.matrix import Ints
from vas_affinity.placement import CpuRole, Pin, Placement, Target
from vas_affinity.score import score
from vas_affinity.search import Effort, find
from vas_affinity.snapshot import Role, Snapshot
from vas_affinity.thread_plan.pose import Known, Posed, pose
from vas_affinity.thread_plan.reasons import reasons
from vas_affinity.thread_plan.settings import Policy, ThreadSettings
from vas_affinity.thread_plan.slides import slides
from vas_core.errors import BadInput


@dataclass(frozen=True, eq=False)
class ThreadPlan:
    """A placement with the problem that it answers, for who wants its score explained."""

    posed: Posed
    places: Ints
    placement: Placement


def plan_threads(
    snapshot: Snapshot,
    known: Known | None = None,
    settings: ThreadSettings | None = None,
    distances: Distances | None = None,
) -> ThreadPlan:
    """Where the snapshot's storage, service and vhost threads are to be, each with its reason.

    The same input gives the same plan, unless the budget ended the search (the notes say so).
    Distances are the papers' ratio table if none are given. Raises BadInput without a thread to
    place or a CPU to place it on.
    """
    known, settings = known or Known(), settings or ThreadSettings()
    posed = pose(snapshot, distances or ratio_distances(snapshot.topology), known, settings)
    places, notes = _places(posed, settings)
    placement = Placement(
        host=snapshot.host,
        roles=_roles(posed, places),
        pins=_pins(posed, places),
        score=score(posed.problem, places),
        notes=(*posed.notes, *notes),
    )
    return ThreadPlan(posed, places, placement)


def thread_plan_of(placement: Placement, posed: Posed) -> ThreadPlan:
    """A placement that was made before, as the answer to a problem of the same threads.

    A thread that it does not pin is where it is today. Raises BadInput for one that pins none of
    the threads, and for one to a CPU that is not online.
    """
    index = {cpu: row for row, cpu in enumerate(posed.problem.cpus)}
    pins = {pin.name: pin for pin in placement.pins if pin.target is Target.THREAD}
    if not pins.keys() & set(posed.problem.threads):
        what = "pins none of the threads that are here"
        raise BadInput(what, where=f"the plan of {placement.host}", hint="plan again")
    places, made = posed.start.copy(), list(_pins(posed, posed.start))
    for row, key in enumerate(posed.problem.threads):
        if key in pins:
            made[row] = pins[key]
            if not pins[key].cpus or pins[key].cpus[0] not in index:
                raise BadInput(f"{key} is pinned to a CPU that is not online", hint="plan again")
            places[row] = index[pins[key].cpus[0]]
    notes = (*posed.notes, *placement.notes)
    return ThreadPlan(
        posed, places, placement.model_copy(update={"pins": tuple(made), "notes": notes})
    )


def _places(posed: Posed, settings: ThreadSettings) -> tuple[Ints, tuple[str, ...]]:
    if settings.policy is Policy.SLIDES:
        return slides(posed, settings.idle_below)
    effort = Effort(seed=settings.seed, budget_seconds=settings.budget_seconds)
    found = find(posed.problem, posed.start, effort)
    notes = []
    if found.optimal:
        notes.append("no placement has a lower score: proved by branch and bound")
    if found.cut:
        notes.append("the budget ended the search: another run may find another plan")
    return found.places, tuple(notes)


def _pins(posed: Posed, places: Ints) -> tuple[Pin, ...]:
    return tuple(
        Pin(
            target=Target.THREAD,
            name=thread.key,
            cpus=(posed.problem.cpus[place],),
            reason=reason,
            guest=thread.guest,
            tid=thread.tid,
            start=thread.start,
        )
        for thread, place, reason in zip(
            posed.threads, places.tolist(), reasons(posed, places), strict=True
        )
    )


def _roles(posed: Posed, places: Ints) -> dict[int, CpuRole]:
    """Storage interrupts' CPUs, the storage server's, and the rest the host's."""
    roles = dict.fromkeys(posed.snapshot.topology.online, CpuRole.HOST)
    for thread, place in zip(posed.threads, places.tolist(), strict=True):
        if thread.role is Role.STORAGE:
            roles[posed.problem.cpus[place]] = CpuRole.OSS
    for cpu in posed.firing.storage_of(None):
        roles[cpu] = CpuRole.STORAGE_IRQ
    return roles
