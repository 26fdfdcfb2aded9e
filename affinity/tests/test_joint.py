"""The joint plan: never above the rule's score, and no constraint is broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from guest_machines import host, hosts, machine, nic, nvme
from guest_plan_checks import check_plan
from hypothesis import given, settings
from hypothesis import strategies as st

from vas_affinity.entities import EntityKind
from vas_affinity.guest_plan import GuestPlanSettings, GuestRequest, plan_guests
from vas_affinity.joint import JointInput, JointPlan, plan_host
from vas_affinity.machine.reading import read_source
from vas_affinity.machine.snapshot import Interrupt, LibvirtGuest, Snapshot, Thread, ThreadRole
from vas_affinity.machine.topology import MachineTopology
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_affinity.plan.explain.explanation import explain_host
from vas_affinity.search.score import score
from vas_core.errors import BadInput

MACHINES = Path(__file__).parent / "machines"
NAMES = sorted(path.name for path in MACHINES.iterdir() if path.suffix in (".xml", ".bz2"))
SETTINGS = st.builds(
    GuestPlanSettings,
    oss_share=st.sampled_from([0.0, 0.25, 0.5]),
    host_cores=st.integers(1, 2),
    junk_siblings=st.booleans(),
)


def asked(*vcpus: int) -> list[GuestRequest]:
    return [GuestRequest(name=f"vm{number}", vcpus=count) for number, count in enumerate(vcpus, 1)]


def busy(tid: int, *, cpu: float = 0.6, last: int = 0, guest: str | None = None) -> Thread:
    key = f"{guest}/vhost/{tid}" if guest else f"ll_ost_io/{tid}/0"
    role = ThreadRole.VHOST if guest else ThreadRole.STORAGE
    return Thread(
        tid=tid, pid=tid, key=key, name=key, role=role, cpu=cpu, last_cpu=last, guest=guest, start=7
    )


@st.composite
def working_hosts(draw: st.DrawFn) -> Snapshot:
    """Hosts whose storage server and guest vm1 are at work."""
    snapshot = draw(hosts())
    cpus = st.sampled_from(snapshot.topology.online)
    uses = st.sampled_from([0.02, 0.3, 1.0])
    threads = [
        busy(100 + n, cpu=draw(uses), last=draw(cpus), guest=draw(st.sampled_from([None, "vm1"])))
        for n in range(draw(st.integers(0, 5)))
    ]
    return snapshot.model_copy(update={"threads": tuple(threads)})


def check_joint(plan: JointPlan) -> None:
    """Fails for a joint plan above the rule's score, or one that breaks a constraint."""
    problem, places = plan.planned.problem, plan.planned.places
    assert plan.planned.score <= plan.rule.score
    assert np.isfinite(plan.planned.score)
    assert plan.placement.score == score(problem.arrays, places)
    assert not problem.arrays.intruders(places).any()
    assert [e.key for e in problem.entities] == [e.key for e in plan.rule.problem.entities]
    _check_interrupts(problem.snapshot.interrupts, plan.placement)
    topology, roles = problem.snapshot.topology, plan.placement.roles
    for entity, place in zip(problem.entities, places.tolist(), strict=True):
        pins = [pin for pin in plan.placement.pins if _is(pin, entity.key)]
        cpu = problem.arrays.cpus[place]
        if entity.kind not in (EntityKind.VCPU, EntityKind.RESERVE):
            if entity.kind is EntityKind.EMULATOR:
                assert cpu in pins[0].cpus
            else:
                assert [pin.cpus for pin in pins] == [(cpu,)], entity.key
        if entity.kind is EntityKind.RESERVE:
            wanted = entity.team
            assert {roles[c].value for c in topology.siblings(cpu)} == {wanted}
        if entity.kind is EntityKind.VHOST:
            (emulator,) = (p for p in plan.placement.pins if _is(p, f"{entity.guest}/emulator"))
            assert cpu in emulator.cpus


def _is(pin: Pin, key: str) -> bool:
    if pin.target is PinTarget.INTERRUPT:
        return key == f"interrupt/{pin.name}"
    if pin.target is PinTarget.THREAD:
        return key == pin.name
    if pin.target is PinTarget.EMULATOR:
        return key == f"{pin.guest}/emulator"
    return key == f"{pin.guest}/{pin.target.value}/{pin.name}"


def _check_interrupts(lines: tuple[Interrupt, ...], placement: HostPlacement) -> None:
    """Nobody moves an interrupt that the kernel manages."""
    managed = {str(line.number) for line in lines if line.managed}
    pinned = {pin.name for pin in placement.pins if pin.target is PinTarget.INTERRUPT}
    assert not managed & pinned


HOSTS = (working_hosts(), st.lists(st.integers(1, 6), min_size=1, max_size=3), SETTINGS)


@pytest.mark.unhurried
@settings(max_examples=10)
@given(*HOSTS)
def test_any_host_that_the_rule_can_plan(
    snapshot: Snapshot, vcpus: list[int], chosen: GuestPlanSettings
) -> None:
    check_any(snapshot, vcpus, chosen)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(1800)
@settings(max_examples=300)
@given(*HOSTS)
def test_any_of_300_hosts(snapshot: Snapshot, vcpus: list[int], chosen: GuestPlanSettings) -> None:
    check_any(snapshot, vcpus, chosen)


def check_any(snapshot: Snapshot, vcpus: list[int], chosen: GuestPlanSettings) -> None:
    """Plans a host if the rule can, and fails if the joint plan breaks a promise."""
    requests = asked(*vcpus)
    try:
        plan_guests(snapshot, requests, chosen)
    except BadInput:
        with pytest.raises(BadInput):
            plan_host(snapshot, requests, chosen)
        return
    plan = plan_host(snapshot, requests, chosen)
    check_plan(snapshot, requests, chosen, plan.placement)
    check_joint(plan)


@pytest.mark.unhurried
@pytest.mark.parametrize("name", NAMES)
def test_every_captured_machine_plans_jointly(name: str) -> None:
    snapshot, chosen = read_source(MACHINES / name), GuestPlanSettings()
    requests = asked(2, 1)
    plan = plan_host(snapshot, requests)
    check_plan(snapshot, requests, chosen, plan.placement)
    check_joint(plan)


def test_the_same_host_has_the_same_plan() -> None:
    snapshot = host(machine(cores=8), nvme(40, 1), nic(50, 2, node=1), threads=(busy(7), busy(8)))
    one, other = (plan_host(snapshot, asked(4, 2)).placement for _ in range(2))
    assert one == other


def on_two_nodes(*lines: Interrupt) -> Snapshot:
    """Two nodes; the disk interrupts node 0, and vm1 has the network device of node 1."""
    given_one = LibvirtGuest(
        name="vm1", uuid="1", running=False, vcpus=4, memory_bytes=1 << 30, devices=("ens1",)
    )
    snapshot = host(machine(cores=8), nvme(40, 1), *lines)
    return snapshot.model_copy(update={"guests": (given_one,)})


def cpu_of(plan: JointPlan, key: str) -> int:
    keys = [entity.key for entity in plan.planned.problem.entities]
    return plan.planned.problem.arrays.cpus[plan.planned.places[keys.index(key)]]


def test_an_interrupt_is_near_the_guest_that_has_its_device() -> None:
    line = nic(50, 9, managed=False, per_second=9000.0)
    plan = plan_host(on_two_nodes(line), asked(4))
    topology = plan.planned.problem.snapshot.topology
    nodes = {topology.cpu(cpu_of(plan, f"vm1/vcpu/{n}")).node for n in ("0-1", "2-3")}
    assert {topology.cpu(cpu_of(plan, "interrupt/50")).node} == nodes
    lone = plan_host(host(machine(cores=8), nvme(40, 1), line), asked(4))
    assert plan.planned.problem.arrays.communication.sum() > (
        lone.planned.problem.arrays.communication.sum()
    )


def test_a_guest_moves_with_its_memory_to_the_node_of_its_device() -> None:
    """The disk is on node 0, where the rule puts the guest; its NIC must interrupt node 1."""
    lines = [nic(50 + n, 9, managed=True, per_second=90_000.0) for n in range(2)]
    vhost = busy(7, cpu=1.0, guest="vm1").model_copy(update={"device": "ens1"})
    snapshot = host(machine(nodes=2, cores=8), nvme(40, 1), *lines, threads=(vhost,))
    rule = plan_guests(snapshot, asked(2))
    plan = plan_host(snapshot, asked(2))
    check_joint(plan)
    assert [memory.nodes for memory in rule.memory] == [(0,)]
    assert [memory.nodes for memory in plan.placement.memory] == [(1,)]
    vcpus = [pin.cpus[0] for pin in plan.placement.pins if pin.target is PinTarget.VCPU]
    assert {snapshot.topology.cpu(cpu).node for cpu in vcpus} == {1}


def test_measured_communication_counts() -> None:
    snapshot = host(machine(nodes=2, cores=8), nvme(40, 1), threads=(busy(7), busy(8)))
    graph = {("ll_ost_io/7/0", "ll_ost_io/8/0"): 10.0}
    plan = plan_host(snapshot, asked(4), None, JointInput(graph=graph))
    check_joint(plan)
    topology = snapshot.topology
    one, other = (topology.cpu(cpu_of(plan, f"ll_ost_io/{n}/0")) for n in (7, 8))
    assert one.l3 == other.l3


def test_a_thread_of_the_server_is_not_on_a_network_interrupts_core() -> None:
    lines = [nic(50 + n, 3, node=0, per_second=5000.0) for n in range(3)]
    threads = tuple(busy(7 + n, cpu=0.9) for n in range(6))
    plan = plan_host(host(machine(cores=8), nvme(40, 1), *lines, threads=threads), asked(4))
    check_joint(plan)
    topology = plan.planned.problem.snapshot.topology
    fire = {topology.cpu(cpu_of(plan, f"interrupt/{50 + n}")).core for n in range(3)}
    served = {topology.cpu(cpu_of(plan, f"ll_ost_io/{7 + n}/0")).core for n in range(6)}
    assert not fire & served


def test_idle_threads_of_the_server_are_pinned_as_a_group() -> None:
    idle, at_work = busy(7, cpu=0.01), busy(8, cpu=0.9)
    plan = plan_host(host(machine(cores=8), nvme(40, 1), threads=(idle, at_work)), asked(4))
    pins = {pin.tid: pin.cpus for pin in plan.placement.pins if pin.tid}
    assert len(pins[7]) > 1
    assert len(pins[8]) == 1


def _tables(topology: MachineTopology, distances: dict[int, dict[int, int]]) -> MachineTopology:
    """The machine with a firmware's table of distances as it is given."""
    nodes = [n.model_copy(update={"distances": distances[n.number]}) for n in topology.nodes]
    return topology.model_copy(update={"nodes": tuple(nodes)})


def _without_nodes(topology: MachineTopology) -> MachineTopology:
    cpus = tuple(cpu.model_copy(update={"node": None}) for cpu in topology.cpus)
    return topology.model_copy(update={"cpus": cpus, "nodes": ()})


STRANGE = {
    "2 CPUs": machine(nodes=1, cores=2, threads=1),
    "192 CPUs": machine(nodes=4, caches=4, cores=6, threads=2),
    "half of the CPUs, as a cgroup leaves them": machine(
        nodes=2, cores=8, offline=frozenset(range(4, 20))
    ),
    "a table that is not symmetric": _tables(machine(), {0: {0: 10, 1: 40}, 1: {0: 12, 1: 10}}),
    "a table of equal distances": _tables(machine(), {0: {0: 10, 1: 10}, 1: {0: 10, 1: 10}}),
    "a table of zeros": _tables(machine(), {0: {0: 0, 1: 0}, 1: {0: 0, 1: 0}}),
    "a table with holes": _tables(machine(), {0: {}, 1: {0: 255}}),
    "a node without CPUs": machine(
        nodes=2, cores=4, offline=frozenset([*range(4, 8), *range(12, 16)])
    ),
    "no nodes": _without_nodes(machine(nodes=2, cores=4)),
}


@pytest.mark.unhurried
@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_machine_plans_jointly_and_explains(name: str) -> None:
    topology = STRANGE[name]
    cpus = topology.online
    lines = (nvme(40, cpus[0], per_second=500.0), nic(50, cpus[-1], per_second=900.0))
    snapshot = host(topology, *lines, threads=(busy(7, last=cpus[0]), busy(8, guest="vm1")))
    requests = asked(1) if len(cpus) < 4 else asked(2, 1)
    plan = plan_host(snapshot, requests)
    check_plan(snapshot, requests, GuestPlanSettings(), plan.placement)
    check_joint(plan)
    found = explain_host(plan, "table")
    assert found.planned.score == pytest.approx(plan.planned.score)
    assert found.planned.forbidden == 0
