"""Plans the threads of a host. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from vas_affinity.entities import EntityKind, HostProblem
from vas_affinity.entities.reasons import reasons
from vas_affinity.machine.distance import Distances, ratio_distances
from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.placement import CpuRole, HostPlacement, Pin, PinTarget
from vas_affinity.search import Effort, find
from vas_affinity.search.score import score
from vas_affinity.threads.problem import ThreadPlanInput, thread_problem
from vas_affinity.threads.settings import Policy, ThreadPlanSettings
from vas_affinity.threads.slides import slides
from vas_core.errors import BadInput


@dataclass(frozen=True, eq=False)
class ThreadPlan:
    """A placement with the problem that it solves, so that its score can be explained."""

    problem: HostProblem
    places: Ints
    placement: HostPlacement


def plan_threads(
    snapshot: Snapshot,
    known: ThreadPlanInput | None = None,
    settings: ThreadPlanSettings | None = None,
    distances: Distances | None = None,
) -> ThreadPlan:
    """Plans a CPU, with a reason, for each storage, service and vhost thread of a snapshot.

    The same input gives the same plan, unless the budget ended the search, which the notes say.
    Distances are the papers' ratio table if none are given. Raises BadInput without a thread to
    place or a CPU to place it on.
    """
    known, settings = known or ThreadPlanInput(), settings or ThreadPlanSettings()
    problem = thread_problem(
        snapshot, distances or ratio_distances(snapshot.topology), known, settings
    )
    places, notes = _places(problem, settings)
    placement = HostPlacement(
        host=snapshot.host,
        roles=_roles(problem, places),
        pins=_pins(problem, places),
        score=score(problem.arrays, places),
        notes=(*problem.notes, *notes),
    )
    return ThreadPlan(problem, places, placement)


def thread_plan_of(placement: HostPlacement, problem: HostProblem) -> ThreadPlan:
    """Returns an earlier placement as the solution of a problem of the same threads.

    A thread that it does not pin stays on its present CPU. Raises BadInput if it pins none of the
    threads, or pins one to a CPU that is not online.
    """
    index = {cpu: row for row, cpu in enumerate(problem.arrays.cpus)}
    pins = {pin.name: pin for pin in placement.pins if pin.target is PinTarget.THREAD}
    if not pins.keys() & set(problem.arrays.threads):
        what = "pins none of the threads that are here"
        raise BadInput(what, where=f"the plan of {placement.host}", hint="plan again")
    places, made = problem.start.copy(), list(_pins(problem, problem.start))
    for row, key in enumerate(problem.arrays.threads):
        if key in pins:
            made[row] = pins[key]
            if not pins[key].cpus or pins[key].cpus[0] not in index:
                raise BadInput(f"{key} is pinned to a CPU that is not online", hint="plan again")
            places[row] = index[pins[key].cpus[0]]
    notes = (*problem.notes, *placement.notes)
    return ThreadPlan(
        problem, places, placement.model_copy(update={"pins": tuple(made), "notes": notes})
    )


def _places(problem: HostProblem, settings: ThreadPlanSettings) -> tuple[Ints, tuple[str, ...]]:
    if settings.policy is Policy.SLIDES:
        return slides(problem, settings.idle_below)
    effort = Effort(seed=settings.seed, budget_seconds=settings.budget_seconds)
    found = find(problem.arrays, problem.start, effort)
    notes = []
    if found.optimal:
        notes.append("no placement has a lower score: proved by branch and bound")
    if found.cut:
        notes.append("the budget ended the search: another run may find another plan")
    return found.places, tuple(notes)


def _pins(problem: HostProblem, places: Ints) -> tuple[Pin, ...]:
    return tuple(
        Pin(
            target=PinTarget.THREAD,
            name=thread.key,
            cpus=(problem.arrays.cpus[place],),
            reason=reason,
            guest=thread.guest,
            tid=thread.thread and thread.thread.tid,
            start=thread.thread and thread.thread.start,
        )
        for thread, place, reason in zip(
            problem.entities, places.tolist(), reasons(problem, places), strict=True
        )
    )


def _roles(problem: HostProblem, places: Ints) -> dict[int, CpuRole]:
    """Returns the roles: storage interrupts' CPUs, the storage server's, and the host's rest."""
    roles = dict.fromkeys(problem.snapshot.topology.online, CpuRole.HOST)
    for thread, place in zip(problem.entities, places.tolist(), strict=True):
        if thread.kind is EntityKind.STORAGE:
            roles[problem.arrays.cpus[place]] = CpuRole.OSS
    for cpu in problem.firing.storage_of(None):
        roles[cpu] = CpuRole.STORAGE_IRQ
    return roles
