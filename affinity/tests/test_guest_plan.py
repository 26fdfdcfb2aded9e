"""Plans for guests."""

from __future__ import annotations

import re

import pytest
from guest_machines import GIB, PAGE, host, hosts, machine, nic, nvme, thread
from guest_plan_checks import check_plan, cores_with, vcpus_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vas_affinity.guest_plan import GuestPlanSettings, GuestRequest, plan_guests
from vas_affinity.machine.snapshot import Snapshot, ThreadRole
from vas_affinity.placement import CpuRole, HostPlacement, PinTarget
from vas_core.errors import BadInput


def asked(*vcpus: int, memory_gib: int | None = None) -> list[GuestRequest]:
    memory = memory_gib * GIB if memory_gib else None
    return [
        GuestRequest(name=f"vm{number}", vcpus=count, memory_bytes=memory)
        for number, count in enumerate(vcpus, 1)
    ]


def cpus_with(plan: HostPlacement, role: CpuRole) -> list[int]:
    return [cpu for cpu, its in plan.roles.items() if its is role]


def notes(plan: HostPlacement) -> str:
    return "\n".join(plan.notes)


SETTINGS = st.builds(
    GuestPlanSettings,
    oss_share=st.sampled_from([0.0, 0.25, 0.5]),
    host_cores=st.integers(1, 2),
    junk_siblings=st.booleans(),
    huge_pages=st.booleans(),
)


@pytest.mark.unhurried
@settings(max_examples=50)
@given(hosts(), st.lists(st.integers(1, 20), min_size=1, max_size=3), SETTINGS)
def test_every_plan_keeps_its_promises(
    snapshot: Snapshot, vcpus: list[int], chosen: GuestPlanSettings
) -> None:
    requests = asked(*vcpus)
    try:
        plan = plan_guests(snapshot, requests, chosen)
    except BadInput:
        return
    check_plan(snapshot, requests, chosen, plan)
    assert plan == plan_guests(snapshot, requests, chosen)
    assert plan == HostPlacement.model_validate_json(plan.model_dump_json())


@pytest.mark.unhurried
@settings(max_examples=50)
@given(hosts(), st.integers(1, 200), SETTINGS)
def test_a_refusal_says_what_fits(
    snapshot: Snapshot, vcpus: int, chosen: GuestPlanSettings
) -> None:
    try:
        plan_guests(snapshot, asked(vcpus), chosen)
    except BadInput as refused:
        fits = re.search(r"(\d+) vCPUs? fit", refused.what)
        if fits:
            plan = plan_guests(snapshot, asked(int(fits[1])), chosen)
            check_plan(snapshot, asked(int(fits[1])), chosen, plan)
            with pytest.raises(BadInput):
                plan_guests(snapshot, asked(int(fits[1]) + 1), chosen)
        else:
            assert "none fits" in refused.what
            with pytest.raises(BadInput):
                plan_guests(snapshot, asked(1), chosen)


def test_a_guest_is_beside_the_storage_interrupts_and_not_on_their_core() -> None:
    topology = machine(nodes=2, caches=2, cores=4)
    plan = plan_guests(host(topology, nvme(40, 9)), asked(4, memory_gib=6))
    vcpus = vcpus_of(plan, "vm1")
    assert {topology.cpu(cpu).l3 for cpu in vcpus} == {8}
    assert 9 not in {topology.cpu(cpu).core for cpu in vcpus}
    assert cpus_with(plan, CpuRole.STORAGE_IRQ) == [9]
    iothread = next(pin for pin in plan.pins if pin.target is PinTarget.IOTHREAD)
    assert topology.cpu(iothread.cpus[0]).l3 == 8
    assert "last-level cache with storage interrupt CPU 9 (nvme0)" in iothread.reason
    assert [memory.nodes for memory in plan.memory] == [(1,)]
    assert not plan.shapes[0].cells


def test_an_odd_guest_has_whole_cores() -> None:
    plan = plan_guests(host(machine(), nvme(40, 1)), asked(5))
    shape = plan.shapes[0]
    assert (shape.vcpus, shape.sockets, shape.cores, shape.threads) == (5, 1, 3, 2)
    assert len(cores_with(machine(), plan, {CpuRole.VCPU})) == 3


def test_junk_siblings_have_no_work() -> None:
    topology = machine()
    snapshot = host(topology, nvme(40, 1))
    plan = plan_guests(snapshot, asked(4), GuestPlanSettings(junk_siblings=True))
    assert plan.shapes[0].threads == 1
    for cpu in [1, *vcpus_of(plan, "vm1")]:
        (sibling,) = set(topology.siblings(cpu)) - {cpu}
        assert plan.roles[sibling] is CpuRole.IDLE
    assert "junk siblings" in notes(plan)


def test_isolated_cpus_are_for_vcpus() -> None:
    isolated = frozenset({8, 9, 20, 21})
    plan = plan_guests(host(machine(isolated=isolated), nvme(40, 1)), asked(4))
    assert set(vcpus_of(plan, "vm1")) == isolated
    plan = plan_guests(host(machine(isolated=isolated), nvme(40, 1)), asked(2))
    assert "left idle" in notes(plan)
    plan = plan_guests(host(machine(isolated=isolated), nvme(40, 1)), asked(6))
    assert set(vcpus_of(plan, "vm1")) > isolated
    assert "not all of its vCPUs fit on the isolated CPUs" in notes(plan)


def test_siblings_that_are_offline_are_not_seen() -> None:
    topology = machine(offline=frozenset(range(12, 24)))
    plan = plan_guests(host(topology, nvme(40, 1)), asked(4))
    assert plan.shapes[0].threads == 1


def test_vcpus_are_of_the_fastest_kind_that_has_room() -> None:
    slow = frozenset(range(2, 12))
    fast = plan_guests(host(machine(nodes=1, cores=12, slow=slow), nvme(40, 2)), asked(2))
    assert len(cores_with(machine(nodes=1, cores=12), fast, {CpuRole.VCPU})) == 1
    plan = plan_guests(host(machine(nodes=1, cores=12, slow=slow), nvme(40, 2)), asked(6))
    assert set(vcpus_of(plan, "vm1")) <= slow
    assert "2 kinds of cores" in notes(plan)


def test_a_guest_too_large_for_a_node_spans_two_alike() -> None:
    topology = machine(nodes=2, cores=8)
    plan = plan_guests(host(topology, nvme(40, 1)), asked(20, memory_gib=20))
    shape = plan.shapes[0]
    assert (shape.sockets, shape.cores, shape.threads) == (2, 5, 2)
    assert [(cell.node, len(cell.vcpus)) for cell in shape.cells] == [(0, 10), (1, 10)]
    assert [cell.memory_bytes for cell in shape.cells] == [10 * GIB, 10 * GIB]
    assert "spans nodes 0, 1" in notes(plan)


def test_memory_that_its_node_lacks_is_said_by_how_much() -> None:
    snapshot = host(machine(node_gib=8), nvme(40, 1))
    plan = plan_guests(snapshot, asked(4, memory_gib=10))
    assert plan.memory[0].nodes == (0, 1)
    assert "4 GiB more than node 0 has left" in notes(plan)
    with pytest.raises(BadInput, match="1 GiB more than the host has left"):
        plan_guests(snapshot, asked(4, memory_gib=13))


def test_a_node_with_the_memory_is_better_than_the_nearest() -> None:
    topology = machine(node_gib=8)
    small, large = topology.nodes
    nodes = (small, large.model_copy(update={"memory_bytes": 64 * GIB}))
    snapshot = host(topology.model_copy(update={"nodes": nodes}), nvme(40, 1))
    plan = plan_guests(snapshot, asked(4, memory_gib=16))
    assert plan.memory[0].nodes == (1,)


def test_huge_pages_that_are_not_reserved_are_said() -> None:
    plan = plan_guests(host(machine(), nvme(40, 1)), asked(4, memory_gib=6))
    assert plan.memory[0].page_bytes == PAGE
    assert "3072 pages of 2 MiB, and node 0 has 0 reserved" in notes(plan)
    plain = GuestPlanSettings(huge_pages=False)
    plan = plan_guests(host(machine(), nvme(40, 1)), asked(4, memory_gib=6), plain)
    assert plan.memory[0].page_bytes is None


def test_large_pages_are_used_if_they_are_reserved() -> None:
    topology = machine()
    nodes = [n.model_copy(update={"huge_pages": {PAGE: 0, GIB: 6}}) for n in topology.nodes]
    snapshot = host(topology.model_copy(update={"nodes": tuple(nodes)}), nvme(40, 1))
    plan = plan_guests(snapshot, asked(4, memory_gib=6))
    assert plan.memory[0].page_bytes == GIB
    assert "reserve" not in notes(plan)


def test_several_guests_share_no_core() -> None:
    topology = machine(cores=8)
    plan = plan_guests(host(topology, nvme(40, 1)), asked(4, 6, 2))
    cores = [{topology.cpu(c).core for c in vcpus_of(plan, f"vm{n}")} for n in (1, 2, 3)]
    assert sum(map(len, cores)) == len(set.union(*cores)) == 6


def test_a_device_with_a_queue_on_every_cpu_follows_who_submits() -> None:
    queues = [nvme(40 + cpu, cpu, queue=cpu, node=1) for cpu in range(24)]
    topology = machine()
    plan = plan_guests(host(topology, *queues), asked(4))
    (cpu,) = cpus_with(plan, CpuRole.STORAGE_IRQ)
    assert topology.cpu(cpu).node == 1
    assert "nvme0 has interrupts on 24 CPUs" in notes(plan)
    check_plan(host(topology, *queues), asked(4), GuestPlanSettings(), plan)


def test_queues_that_do_not_fire_do_not_count() -> None:
    queues = [nvme(40 + cpu, cpu, per_second=900.0 if cpu == 3 else 0.0) for cpu in range(24)]
    plan = plan_guests(host(machine(), *queues), asked(4))
    assert cpus_with(plan, CpuRole.STORAGE_IRQ) == [3]


def test_what_is_assumed_without_an_interrupt_is_said() -> None:
    plan = plan_guests(host(machine()), asked(4))
    assert "no storage interrupt or device is known of oss1: CPU 1 is assumed" in notes(plan)


def test_a_storage_interrupt_that_can_be_moved_goes_to_the_others() -> None:
    spread = [nvme(60 + cpu, cpu, device="sas", managed=False) for cpu in range(24)]
    plan = plan_guests(host(machine(), nvme(40, 1), *spread), asked(4))
    moved = [pin for pin in plan.pins if pin.target is PinTarget.INTERRUPT]
    assert len(moved) == 24
    assert {pin.device for pin in moved} == {"sas"}
    assert all(plan.roles[cpu] is CpuRole.STORAGE_IRQ for pin in moved for cpu in pin.cpus)


def test_a_nics_interrupts_go_to_the_hosts_cpus_on_its_node() -> None:
    topology = machine()
    lines = [nic(50 + queue, 2, queue=queue, node=1) for queue in range(4)]
    plan = plan_guests(host(topology, nvme(40, 1), *lines), asked(4))
    moved = {pin.name: pin.cpus for pin in plan.pins if pin.target is PinTarget.INTERRUPT}
    assert set(moved) == {"50", "51", "52", "53"}
    assert len(set(moved.values())) == 4
    for (cpu,) in moved.values():
        assert plan.roles[cpu] is CpuRole.HOST
        assert topology.cpu(cpu).node == 1


def test_a_nics_interrupts_are_the_storage_servers_where_the_host_is_far() -> None:
    topology = machine(cores=8)
    line = nic(50, 2, node=0)
    plan = plan_guests(
        host(topology, nvme(40, 1), line), asked(4), GuestPlanSettings(oss_share=0.5)
    )
    (moved,) = (pin for pin in plan.pins if pin.target is PinTarget.INTERRUPT)
    assert CpuRole.HOST not in {plan.roles[c] for c in topology.online if topology.cpu(c).node == 0}
    assert plan.roles[moved.cpus[0]] is CpuRole.OSS
    assert "storage server's CPUs" in moved.reason


def test_an_interrupt_that_cannot_be_moved_from_a_vcpu_is_said() -> None:
    stuck = nic(50, 2, managed=True, per_second=10.0)
    plan = plan_guests(host(machine(), nvme(40, 1), stuck), asked(4))
    assert plan.roles[2] is not CpuRole.OSS
    assert "cannot be moved: 50 (ens1)" in notes(plan)


def test_the_servers_threads_and_the_guests_vhost_threads_are_placed() -> None:
    seen = (
        thread(7, ThreadRole.STORAGE),
        thread(8, ThreadRole.VHOST, guest="vm1"),
        thread(9, ThreadRole.SERVICE),
    )
    plan = plan_guests(host(machine(), nvme(40, 1), threads=seen), asked(4))
    pins = {pin.tid: pin for pin in plan.pins if pin.target is PinTarget.THREAD}
    assert set(pins) == {7, 8}
    assert {plan.roles[cpu] for cpu in pins[7].cpus} == {CpuRole.OSS, CpuRole.STORAGE_IRQ}
    emulator = next(pin for pin in plan.pins if pin.target is PinTarget.EMULATOR)
    assert pins[8].cpus == emulator.cpus
    assert pins[8].start == 7


def test_a_small_machine_gives_up_the_helpers_cpus_and_says_so() -> None:
    plan = plan_guests(host(machine(nodes=1, cores=4, threads=1), nvme(40, 1)), asked(2))
    assert "share the host's cores" in notes(plan)
    plan = plan_guests(host(machine(nodes=1, cores=2, threads=1), nvme(40, 0)), asked(1))
    assert vcpus_of(plan, "vm1") == [1]
    assert "shares the storage server's cores" in notes(plan)


def test_too_many_are_refused_with_what_fits() -> None:
    with pytest.raises(BadInput, match="vm1: 99 vCPUs do not fit on oss1, 16 vCPUs fit"):
        plan_guests(host(machine(), nvme(40, 1)), asked(99))
    with pytest.raises(BadInput, match="vm2: 9 vCPUs do not fit on oss1, 8 vCPUs fit"):
        plan_guests(host(machine(), nvme(40, 1)), asked(8, 9))
    with pytest.raises(BadInput, match="none fits"):
        plan_guests(host(machine(nodes=1, cores=1), nvme(40, 0)), asked(2))


def test_a_guest_is_asked_for_once() -> None:
    twice = [GuestRequest(name="vm1", vcpus=1)] * 2
    with pytest.raises(BadInput, match="vm1: is asked for twice"):
        plan_guests(host(machine()), twice)
