"""What holds for every plan for guests."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from vas_affinity.guest_plan import GuestPlanSettings, GuestRequest
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.machine.topology import MachineTopology
from vas_affinity.placement import CpuRole, GuestShape, HostPlacement, PinTarget

SERVER = {CpuRole.STORAGE_IRQ, CpuRole.OSS}


def check_plan(
    snapshot: Snapshot,
    requests: Sequence[GuestRequest],
    settings: GuestPlanSettings,
    plan: HostPlacement,
) -> None:
    """Fails for a plan that breaks a promise."""
    topology = snapshot.topology
    assert set(plan.roles) == set(topology.online)
    for pin in plan.pins:
        assert pin.cpus and set(pin.cpus) <= set(topology.online), pin
        assert pin.reason
    _check_kept(topology, settings, plan)
    for request, shape in zip(requests, plan.shapes, strict=True):
        _check_guest(topology, plan, request, shape)
    vcpus = [cpu for pin in plan.pins if pin.target is PinTarget.VCPU for cpu in pin.cpus]
    assert len(set(vcpus)) == len(vcpus)
    assert {cpu for cpu, role in plan.roles.items() if role is CpuRole.VCPU} == set(vcpus)
    _check_memory(topology, settings, plan)


def vcpus_of(plan: HostPlacement, guest: str) -> list[int]:
    """The CPU of each vCPU of a guest, by its number."""
    pins = [pin for pin in plan.pins if pin.target is PinTarget.VCPU and pin.guest == guest]
    assert [pin.name for pin in pins] == [str(number) for number in range(len(pins))]
    return [cpu for pin in pins for cpu in pin.cpus]


def cores_with(topology: MachineTopology, plan: HostPlacement, roles: set[CpuRole]) -> set[int]:
    """The cores that have a CPU of one of these roles."""
    return {topology.cpu(cpu).core for cpu, role in plan.roles.items() if role in roles}


def _check_kept(
    topology: MachineTopology, settings: GuestPlanSettings, plan: HostPlacement
) -> None:
    cores = {topology.cpu(cpu).core for cpu in topology.online}
    server = cores_with(topology, plan, SERVER)
    hosts = cores_with(topology, plan, {CpuRole.HOST})
    assert len(server) >= ceil(settings.oss_share * len(cores))
    assert len(hosts) >= settings.host_cores or (len(cores) <= 3 and server)
    interrupts = cores_with(topology, plan, {CpuRole.STORAGE_IRQ})
    assert interrupts
    assert not interrupts & cores_with(topology, plan, {CpuRole.VCPU})
    for cpu, role in plan.roles.items():
        if topology.cpu(cpu).isolated:
            assert role in (CpuRole.VCPU, CpuRole.IDLE, CpuRole.STORAGE_IRQ)


def _check_guest(
    topology: MachineTopology, plan: HostPlacement, request: GuestRequest, shape: GuestShape
) -> None:
    vcpus = vcpus_of(plan, request.name)
    assert len(vcpus) == request.vcpus == shape.vcpus
    seen = shape.sockets * shape.cores * shape.threads
    assert 0 <= seen - shape.vcpus < shape.threads
    cores = [topology.cpu(cpu).core for cpu in vcpus]
    for one in range(len(vcpus)):
        for other in range(one):
            siblings = one // shape.threads == other // shape.threads
            assert (cores[one] == cores[other]) == siblings, "siblings are seen as siblings"
    assert len({topology.cpu(cpu).efficiency for cpu in vcpus}) == 1
    emulators = [p for p in plan.pins if p.target is PinTarget.EMULATOR and p.guest == request.name]
    iothreads = [p for p in plan.pins if p.target is PinTarget.IOTHREAD and p.guest == request.name]
    assert (len(emulators), len(iothreads)) == (1, request.iothreads)
    for pin in [*emulators, *iothreads]:
        assert all(plan.roles[cpu] not in (CpuRole.VCPU, CpuRole.IDLE) for cpu in pin.cpus)


def _check_memory(
    topology: MachineTopology, settings: GuestPlanSettings, plan: HostPlacement
) -> None:
    with_cpus = {topology.cpu(cpu).node for cpu in topology.online}
    room = {node.number: node.memory_bytes for node in topology.nodes}
    for memory, shape in zip(plan.memory, plan.shapes, strict=True):
        assert set(memory.nodes) <= with_cpus or with_cpus == {None}
        if shape.cells:
            assert sum(cell.memory_bytes for cell in shape.cells) == memory.memory_bytes
            assert {cell.node for cell in shape.cells} == set(memory.nodes)
            for cell in shape.cells:
                vcpus = vcpus_of(plan, shape.guest)
                assert {topology.cpu(vcpus[v]).node for v in cell.vcpus} == {cell.node}
        if any(room.values()):
            limit = sum(room.get(node, 0) for node in memory.nodes)
            assert memory.memory_bytes <= limit * (1 - settings.oss_memory_share)
