"""Plans for threads: from a snapshot to pins, by the score and by the slides."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placement_problems import MACHINES

from vas_affinity.machine.distance import RATIO, ratio_distances
from vas_affinity.machine.reading.memory import memory_shares
from vas_affinity.machine.snapshot import DeviceKind, Interrupt, Snapshot, Thread, ThreadRole
from vas_affinity.machine.topology import MachineTopology
from vas_affinity.plan.explain.explanation import explain_plan
from vas_affinity.search.score import score, terms
from vas_affinity.threads import (
    Policy,
    ThreadPlanInput,
    ThreadPlanSettings,
    plan_threads,
    read_graph,
)
from vas_bench.search.instances import machine
from vas_core.errors import BadInput
from vas_core.root import Root

BIG = machine(packages=2, nodes=1, caches=2, cores=2, threads=2)  # caches 0-3, 4-7; node 1 from 8
SLIDES = ThreadPlanSettings(policy=Policy.SLIDES)


def _thread(
    number: int, *, cpu: float = 0.5, last: int = 0, role: ThreadRole = ThreadRole.STORAGE
) -> Thread:
    return Thread(
        tid=100 + number, pid=1, key=f"oss/io/{number}", name="io", role=role, cpu=cpu,
        last_cpu=last, start=7,
    )  # fmt: skip


def _line(number: int, device: str, kind: DeviceKind, *cpus: int) -> Interrupt:
    return Interrupt(number=number, device=device, kind=kind, effective=cpus)


def _host(
    threads: int = 3, *, disk: int = 4, network: int | None = 12, topology: MachineTopology = BIG
) -> Snapshot:
    lines = [_line(1, "nvme0", DeviceKind.STORAGE, disk)]
    if network is not None:
        lines.append(_line(2, "eth0", DeviceKind.NETWORK, network))
    return Snapshot(
        host="oss1",
        topology=topology,
        interrupts=tuple(lines),
        threads=tuple(_thread(number) for number in range(threads)),
    )


@settings(max_examples=25)
@given(MACHINES, st.sampled_from(list(Policy)), st.data())
def test_ns_is_never_chosen_and_every_pin_is_online(
    topology: MachineTopology, policy: Policy, data: st.DataObject
) -> None:
    cpus = st.sampled_from(topology.online)
    disk, network = data.draw(cpus), data.draw(cpus)
    snapshot = _host(data.draw(st.integers(1, 6)), disk=disk, network=network, topology=topology)
    plan = plan_threads(snapshot, None, ThreadPlanSettings(policy=policy, budget_seconds=0.05))
    assert all(pin.reason and set(pin.cpus) <= set(topology.online) for pin in plan.placement.pins)
    assert plan.placement.roles.keys() == set(topology.online)
    spread = any("cannot be avoided" in note for note in plan.placement.notes)
    assert spread == (len(topology.online) == 1)
    if not spread:
        assert all(pin.cpus != (network,) for pin in plan.placement.pins)


def test_the_slides_begin_at_the_disks_core_and_go_outwards() -> None:
    plan = plan_threads(_host(6), None, SLIDES)
    labels = [re.findall(r"\[(\w\w)\]", pin.reason)[0] for pin in plan.placement.pins]
    # Two threads a core: core 4 is the disk's, core 6 shares its cache, 0 and 2 its node.
    assert labels == ["DS", "DC", "DM", "DM", "DN", "DN"]
    assert [pin.cpus[0] for pin in plan.placement.pins][:2] == [4, 6]


def test_without_a_disk_the_slides_go_by_the_network() -> None:
    snapshot = _host(2).model_copy(
        update={"interrupts": (_line(2, "eth0", DeviceKind.NETWORK, 12),)}
    )
    placement = plan_threads(snapshot, None, SLIDES).placement
    assert "[NC]" in placement.pins[0].reason


def test_a_busy_disk_core_is_passed_over() -> None:
    snapshot = _host(1)
    busy = _thread(9, cpu=0.9, last=4, role=ThreadRole.VCPU).model_copy(
        update={"key": "vm1/vcpu/0"}
    )
    snapshot = snapshot.model_copy(update={"threads": (*snapshot.threads, busy)})
    assert plan_threads(snapshot, None, SLIDES).placement.pins[0].cpus == (6,)
    above = SLIDES.model_copy(update={"idle_below": 0.95})
    assert plan_threads(snapshot, None, above).placement.pins[0].cpus == (4,)


def test_where_no_core_is_idle_the_least_used_takes_it_and_a_note_says_so() -> None:
    placement = plan_threads(_host(9), None, SLIDES).placement
    assert any("no core was idle" in note and "1 of 9" in note for note in placement.notes)
    assert len({pin.cpus for pin in placement.pins[:8]}) == 8


@pytest.mark.unhurried
def test_those_that_communicate_are_near_and_none_shares_a_cpu() -> None:
    snapshot = _host(8)
    graph = {("oss/io/0", "oss/io/7"): 5.0}
    plan = plan_threads(snapshot, ThreadPlanInput(graph=graph))
    cpus = [pin.cpus[0] for pin in plan.placement.pins]
    assert BIG.cpu(cpus[0]).l3 == BIG.cpu(cpus[7]).l3
    assert len(set(cpus)) == 8
    assert plan.placement.score == score(plan.problem.arrays, plan.places)


def test_a_queue_on_every_cpu_draws_nobody() -> None:
    every = _line(1, "nvme0", DeviceKind.STORAGE, *BIG.online)
    snapshot = _host(2).model_copy(update={"interrupts": (every,)})
    plan = plan_threads(snapshot)
    assert not plan.problem.arrays.interrupt.any()
    assert any("nvme0 interrupts 16 CPUs" in note for note in plan.placement.notes)


def test_isolated_cpus_are_left_and_those_asked_for_are_used() -> None:
    isolated = tuple(cpu.model_copy(update={"isolated": cpu.number < 8}) for cpu in BIG.cpus)
    snapshot = _host(4, topology=MachineTopology(name="isolated", cpus=isolated, nodes=BIG.nodes))
    assert min(pin.cpus[0] for pin in plan_threads(snapshot).placement.pins) >= 8
    asked = plan_threads(snapshot, None, ThreadPlanSettings(cpus=(0, 1)))
    assert {pin.cpus[0] for pin in asked.placement.pins} <= {0, 1}
    with pytest.raises(BadInput, match="online"):
        plan_threads(snapshot, None, ThreadPlanSettings(cpus=(99,)))


def test_without_threads_there_is_nothing_to_place() -> None:
    with pytest.raises(BadInput, match="no thread"):
        plan_threads(_host(0))


def test_threads_go_to_their_memory() -> None:
    snapshot = _host(1, network=None).model_copy(update={"interrupts": ()})
    plan = plan_threads(snapshot, ThreadPlanInput(memory={1: {1: 1.0}}))
    assert BIG.cpu(plan.placement.pins[0].cpus[0]).node == 1


def test_an_explanation_adds_up() -> None:
    plan = plan_threads(_host(4), ThreadPlanInput(graph={("oss/io/0", "oss/io/1"): 1.0}))
    found = explain_plan(plan, "table")
    assert found.planned.score == pytest.approx(plan.placement.score)
    assert sum(t.planned.score for t in found.threads) == pytest.approx(found.planned.score)
    assert found.today is not None
    today = terms(plan.problem.arrays, np.zeros(4, dtype=np.intp))
    assert found.today.score == pytest.approx(today.total)
    assert found.today.score > found.planned.score
    assert found.as_json()["threads"][0]["today"]["cpu"] == 0


def test_today_is_unknown_where_a_thread_has_no_cpu() -> None:
    snapshot = _host(2)
    lost = snapshot.threads[0].model_copy(update={"last_cpu": None})
    snapshot = snapshot.model_copy(update={"threads": (lost, snapshot.threads[1])})
    found = explain_plan(plan_threads(snapshot), "table")
    assert found.today is None
    assert found.threads[0].today is None
    assert any("not known" in note for note in found.notes)


def test_the_table_of_distances() -> None:
    between = ratio_distances(BIG).between
    assert [between[0, cpu] for cpu in (0, 1, 2, 4, 8)] == [
        RATIO.l1, RATIO.l1, RATIO.l3, RATIO.local_memory, RATIO.remote_memory,
    ]  # fmt: skip
    assert (between == between.T).all()


def test_a_node_that_is_farther_has_no_bridge() -> None:
    four = machine(packages=4, nodes=1, caches=1, cores=1, threads=1)
    nodes = tuple(
        node.model_copy(
            update={"distances": {m: 10 if m == n else 16 if m + n != 3 else 22 for m in range(4)}}
        )
        for n, node in enumerate(four.nodes)
    )
    between = ratio_distances(four.model_copy(update={"nodes": nodes})).between
    assert between[0].tolist() == [1, 83, 83, 113]


def test_a_graph_adds_both_orders_and_errors_name_the_key(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    file.write_text(
        '{"pairs": [{"a": "x", "b": "y", "weight": 1}, {"a": "y", "b": "x", "weight": 2},'
        ' {"a": "x", "b": "x", "weight": 9}], "unread": []}'
    )
    assert read_graph(file).pairs == {("x", "y"): 3.0}
    file.write_text('{"pairs": [{"a": "x", "b": "y", "weight": -1}]}')
    with pytest.raises(BadInput, match=r"pairs\[0\]\.weight"):
        read_graph(file)


def test_memory_by_node(tmp_path: Path) -> None:
    maps = tmp_path / "proc/7/numa_maps"
    maps.parent.mkdir(parents=True)
    maps.write_text(
        "7f00 default anon=3 N0=1 N1=2 kernelpagesize_kB=4\n"
        "7f10 default huge anon=1 N1=1 kernelpagesize_kB=2048\n"
    )
    shares = memory_shares(Root(tmp_path), [7, 8])
    assert shares.keys() == {7}
    assert shares[7] == pytest.approx({0: 4 / 2060, 1: 2056 / 2060})
