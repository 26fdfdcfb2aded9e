"""A plan of guests in force is planned again: better or the same, and what it keeps is kept."""

from __future__ import annotations

import pytest
from guest_machines import host, machine, nic, nvme
from hypothesis import given, settings
from test_joint import HOSTS, MACHINES, NAMES, asked, busy

from vas_affinity.daemon.replan import guest_replanner, guests_found
from vas_affinity.guest_plan import GuestPlanSettings, GuestRequest
from vas_affinity.joint import JointInput, plan_again, plan_host
from vas_affinity.machine.reading import SnapshotRequest, read_snapshot, read_source
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.placement import CpuRole, HostPlacement, Pin, PinTarget
from vas_affinity.plan.options import ThreadOptions
from vas_core.errors import BadInput
from vas_core.root import Root

pytestmark = pytest.mark.unhurried
STRANGER = Pin(target=PinTarget.THREAD, name="java/x/0", cpus=(2,), reason="test", tid=9, start=9)
GROUP = Pin(target=PinTarget.GROUP, name="a/b", cpus=(2, 3), reason="test")


def two_nodes() -> Snapshot:
    return host(
        machine(), nvme(30, 0), nic(40, 1, per_second=900.0), threads=(busy(100), busy(101, last=1))
    )


def kept(placement: HostPlacement) -> tuple[object, ...]:
    roles = placement.roles
    return (
        placement.host,
        placement.memory,
        placement.shapes,
        {cpu for cpu, role in roles.items() if role is CpuRole.STORAGE_IRQ},
        sorted(pin.name for pin in placement.pins if pin.guest),
    )


def test_a_plan_that_is_the_best_known_is_no_offer() -> None:
    plan = plan_host(two_nodes(), asked(4)).placement
    found = plan_again(plan, two_nodes())
    assert found.moved == 0
    assert found.before.score == found.after.score == pytest.approx(plan.score)
    assert guests_found(found, 0.05).offer is None
    assert kept(found.placement) == kept(plan)


def test_what_has_changed_since_is_worth_a_move() -> None:
    """The graph says now that the vCPU in the iothread's other cache does the guest's I/O."""
    topology = machine(caches=2, cores=3)
    snapshot = host(topology, nvme(30, 0), nic(40, 1, per_second=900.0), threads=(busy(100),))
    plan = plan_host(snapshot, asked(8)).placement
    in_force = plan.model_copy(update={"pins": (*plan.pins, STRANGER, GROUP)})
    cache = {key(pin): topology.cpu(pin.cpus[0]).l3 for pin in plan.pins if pin.guest == "vm1"}
    iothread = "vm1/iothread/1"
    far = next(k for k, l3 in cache.items() if "/vcpu/" in k and l3 != cache[iothread])
    known = JointInput(graph={(iothread, far): 9.0})
    found = plan_again(in_force, snapshot, known)
    offer = guests_found(found, 0.05).offer
    assert offer is not None and offer.gain is not None
    assert offer.gain == pytest.approx(found.before.score - found.after.score)
    assert offer.gain > 0
    assert offer.cost == pytest.approx(0.05 * found.before.score * found.moved)
    then = {key(pin): topology.cpu(pin.cpus[0]).l3 for pin in offer.plan.pins}
    assert then[far] == then[iothread]
    assert kept(offer.plan) == kept(in_force)
    assert {STRANGER, GROUP} <= set(offer.plan.pins)
    again = plan_again(offer.plan, snapshot, known)
    assert again.before.score == pytest.approx(found.after.score)
    assert guests_found(again, 0.05).offer is None


def key(pin: Pin) -> str:
    return f"{pin.guest}/{pin.target}/{pin.name}"


def test_busy_queues_of_one_moment_do_not_make_the_storage_interrupts() -> None:
    """An NVMe queue for each CPU: that of a vCPU's core happens to fire while it is looked."""
    queues = [nvme(30 + cpu, cpu, queue=cpu, per_second=100.0) for cpu in range(24)]
    plan = plan_host(host(machine(), *queues), asked(4)).placement
    vcpu = next(pin.cpus[0] for pin in plan.pins if pin.target is PinTarget.VCPU)
    one = [
        line.model_copy(update={"per_second": 100.0 if line.effective == (vcpu,) else 0.0})
        for line in queues
    ]
    found = plan_again(plan, host(machine(), *one))
    assert kept(found.placement) == kept(plan)
    used = {cpu for pin in found.placement.pins if pin.target is PinTarget.VCPU for cpu in pin.cpus}
    assert {found.placement.roles[cpu] for cpu in used} == {CpuRole.VCPU}


def test_an_interrupt_that_came_since_is_left_to_the_rule() -> None:
    plan = plan_host(two_nodes(), asked(4)).placement
    snapshot = two_nodes()
    more = snapshot.model_copy(
        update={"interrupts": (*snapshot.interrupts, nic(41, 2, device="ens2", per_second=500.0))}
    )
    found = plan_again(plan, more)
    assert {pin.name for pin in found.placement.pins if pin.target is PinTarget.INTERRUPT} >= {"41"}


def test_a_plan_without_guests_and_one_of_offline_cpus_are_refused() -> None:
    plan = plan_host(two_nodes(), asked(4)).placement
    with pytest.raises(BadInput, match="has no guests"):
        plan_again(plan.model_copy(update={"shapes": ()}), two_nodes())
    vcpu = next(pin.cpus[0] for pin in plan.pins if pin.target is PinTarget.VCPU)
    off = host(machine(offline=frozenset({vcpu})), nvme(30, 0))
    with pytest.raises(BadInput, match="not online"):
        plan_again(plan, off)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_on_every_captured_machine_the_plan_is_found_again(name: str) -> None:
    snapshot = read_source(MACHINES / name)
    vcpus = max(1, len(snapshot.topology.online) // 3)
    chosen = GuestPlanSettings(huge_pages=False)
    request = GuestRequest(name="vm1", vcpus=vcpus, memory_bytes=1 << 30)
    plan = plan_host(snapshot, [request], chosen).placement
    found = plan_again(plan, snapshot)
    assert found.before.score == pytest.approx(plan.score)
    assert found.after.score <= found.before.score
    assert kept(found.placement) == kept(plan)


@pytest.mark.machine
def test_the_daemon_plans_the_guests_of_this_machine_again() -> None:
    options = ThreadOptions(
        **dict.fromkeys(("graph", "distances", "io_pattern", "only", "cpus", "budget")),
        policy="score",
        seed=0,
        idle_below=0.2,
    )
    replan = guest_replanner(options, SnapshotRequest(), 0.05)
    with pytest.raises(BadInput, match="has no guests"):
        replan(None)
    here = read_snapshot(Root(), name="here", asked=SnapshotRequest(guests=False))
    try:
        plan = plan_host(here, [GuestRequest(name="vm1", vcpus=1, memory_bytes=1 << 20)]).placement
    except BadInput as small:
        pytest.skip(str(small))
    found = replan(plan)
    assert found.basis is None
    assert found.best <= found.now
    assert found.offer is None or kept(found.offer.plan) == kept(plan)


@settings(max_examples=8)
@given(*HOSTS)
def test_any_plan_is_planned_again_without_breaking_what_it_keeps(
    snapshot: Snapshot, vcpus: list[int], chosen: GuestPlanSettings
) -> None:
    try:
        plan = plan_host(snapshot, asked(*vcpus), chosen).placement
    except BadInput:
        return
    found = plan_again(plan, snapshot)
    assert found.after.score <= found.before.score
    assert kept(found.placement) == kept(plan)
    topology = snapshot.topology
    nodes = {
        (pin.guest, pin.name): topology.cpu(pin.cpus[0]).node
        for pin in plan.pins
        if pin.target is PinTarget.VCPU
    }
    for pin in found.placement.pins:
        if pin.target is PinTarget.VCPU:
            assert topology.cpu(pin.cpus[0]).node == nodes[pin.guest, pin.name]
            assert found.placement.roles[pin.cpus[0]] is CpuRole.VCPU
    assert not found.after.problem.arrays.intruders(found.after.places).any()
