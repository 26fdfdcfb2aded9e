"""Reads the guests' cores from an earlier plan. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from vas_affinity.guest_plan.guest_cores import Concessions, GuestCores
from vas_affinity.guest_plan.machine import Core
from vas_affinity.guest_plan.plan import AssignedGuests, PlanSite
from vas_affinity.guest_plan.request import GuestRequest
from vas_affinity.guest_plan.roles import kept_of
from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.placement import CpuRole, GuestShape, HostPlacement, Pin, PinTarget
from vas_core.errors import BadInput


def assigned_of(site: PlanSite, placement: HostPlacement) -> AssignedGuests:
    """Returns a plan's guests with their cores. Raises BadInput for CPUs that are not online."""
    core_of = {cpu: core for core in site.cores for cpu in core.cpus}
    strange = {cpu for pin in placement.pins for cpu in pin.cpus} - core_of.keys()
    if strange:
        what = f"pins to CPUs that are not online here: {format_cpulist(strange)}"
        raise BadInput(what, where=f"the plan of {placement.host}", hint="plan again")
    guests = tuple(_guest(shape, placement, core_of) for shape in placement.shapes)
    roles = set(placement.roles.values())
    shares = Concessions(host_shares=CpuRole.HOST not in roles)
    kept = kept_of(site.cores, site.storage, site.settings, host=not shares.host_shares)
    return AssignedGuests(guests, kept, shares)


def _guest(shape: GuestShape, placement: HostPlacement, core_of: Mapping[int, Core]) -> GuestCores:
    def pins(target: PinTarget) -> list[Pin]:
        return [p for p in placement.pins if p.target is target and p.guest == shape.guest]

    vcpus = sorted(pins(PinTarget.VCPU), key=lambda pin: int(pin.name))
    iothreads = [p.cpus[0] for p in pins(PinTarget.IOTHREAD) if _is_own(p, placement)]
    emulator = [cpu for p in pins(PinTarget.EMULATOR) if _is_own(p, placement) for cpu in p.cpus]
    memory = next((m.memory_bytes for m in placement.memory if m.guest == shape.guest), None)
    return GuestCores(
        request=GuestRequest(
            name=shape.guest, vcpus=shape.vcpus, memory_bytes=memory, iothreads=shape.iothreads
        ),
        threads=shape.threads,
        cores=tuple(core_of[pin.cpus[0]] for pin in vcpus[:: shape.threads]),
        helpers=tuple(dict.fromkeys(core_of[cpu] for cpu in (*iothreads, *emulator))),
        iothread_cpus=tuple(iothreads),
        emulator_cpus=tuple(emulator),
    )


def _is_own(pin: Pin, placement: HostPlacement) -> bool:
    own = (CpuRole.EMULATOR, CpuRole.IOTHREAD)
    return all(placement.roles.get(cpu) in own for cpu in pin.cpus)
