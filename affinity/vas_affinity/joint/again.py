"""Plans the guests of a plan in force again, as they are at work now. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vas_affinity.entities import EntityKind
from vas_affinity.guest_plan.machine import Near
from vas_affinity.guest_plan.plan import AssignedGuests, PlanSite, site_of
from vas_affinity.guest_plan.settings import GuestPlanSettings
from vas_affinity.guest_plan.storage import StorageCpus
from vas_affinity.joint.earlier import assigned_of
from vas_affinity.joint.placement import joint_placement
from vas_affinity.joint.plan import Solution
from vas_affinity.joint.problem import JointInput, joint_problem
from vas_affinity.machine.distance import ratio_distances
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.placement import CpuRole, HostPlacement, Pin, PinTarget
from vas_affinity.search import Effort, find
from vas_core.errors import BadInput

_SERVERS = (CpuRole.OSS, CpuRole.STORAGE_IRQ)
_MOST_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class PlannedAgain:
    """The plan in force and the best one found from it, as places of the same entities.

    `moved` is the share of the entities that move, kept cores not counted.
    """

    before: Solution
    after: Solution
    placement: HostPlacement
    moved: float


def plan_again(
    placement: HostPlacement, snapshot: Snapshot, known: JointInput | None = None
) -> PlannedAgain:
    """Returns a plan of the same guests that is as good as the one in force, or better.

    A guest keeps its nodes, memory and shape, and whole cores of the same kind; the storage
    interrupts' CPUs and the number of kept cores are those of the plan. Pins of what the snapshot
    does not have stay. Raises BadInput if the plan has no guests, or CPUs that are not online here.
    """
    if not placement.shapes:
        raise BadInput("has no guests", where=f"the plan of {placement.host}")
    known = known or JointInput()
    site = _site(placement, snapshot.model_copy(update={"host": placement.host}))
    assigned = assigned_of(site, placement)
    distances = known.distances or ratio_distances(snapshot.topology)
    problem, places = joint_problem(site, assigned, placement, distances, known.graph)
    effort = Effort(seed=known.seed, budget_seconds=known.budget_seconds)
    found = find(problem.arrays, places, effort).places
    after = Solution(problem, found)
    kept = np.array([entity.kind is EntityKind.RESERVE for entity in problem.entities])
    changed = (found != places)[~kept]
    return PlannedAgain(
        before=Solution(problem, places),
        after=after,
        placement=_placement(placement, site, assigned, after),
        moved=float(changed.mean()) if changed.size else 0.0,
    )


def _site(placement: HostPlacement, snapshot: Snapshot) -> PlanSite:
    """Returns the host with what the plan keeps.

    Where the storage interrupts fire is not asked again: of a device with many queues those that
    were busy in a second would pass for all of them.
    """
    roles = placement.roles
    topology = snapshot.topology
    cores = {topology.cpu(cpu).core for cpu in topology.online}
    servers = {topology.cpu(cpu).core for cpu, role in roles.items() if role in _SERVERS}
    settings = GuestPlanSettings(
        # Half a core less: a share that is rounded up to so many cores.
        oss_share=min(_MOST_SHARE, max(0.0, (len(servers) - 0.5) / len(cores))),
        huge_pages=any(memory.page_bytes for memory in placement.memory),
    )
    site = site_of(snapshot, settings)
    fires = [cpu for cpu, role in roles.items() if role is CpuRole.STORAGE_IRQ]
    if not fires:
        return site
    storage = StorageCpus({cpu: site.storage.devices.get(cpu, ()) for cpu in sorted(fires)})
    return replace(site, storage=storage, near=Near(topology, storage.cpus))


def _placement(
    placement: HostPlacement, site: PlanSite, assigned: AssignedGuests, after: Solution
) -> HostPlacement:
    made = joint_placement(site, assigned, after.problem, after.places)
    lines = {str(e.line.number) for e in after.problem.entities if e.line is not None}
    old = {_identity(pin): pin for pin in placement.pins}
    # An interrupt that does not fire stays where the plan in force has it.
    pins = [
        pin
        if pin.target is not PinTarget.INTERRUPT or pin.name in lines
        else old.get(_identity(pin), pin)
        for pin in made.pins
    ]
    there = {_identity(pin) for pin in pins}
    pins += [pin for identity, pin in old.items() if identity not in there]
    same = {"memory": placement.memory, "shapes": placement.shapes, "score": after.score}
    return made.model_copy(update={**same, "pins": tuple(pins)})


def _identity(pin: Pin) -> tuple[PinTarget, str | None, str]:
    return pin.target, None if pin.target is PinTarget.THREAD else pin.guest, pin.name
