"""Plans for guests on every captured machine."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from guest_machines import host, machine, nvme
from guest_plan_checks import check_plan, cores_with, vcpus_of

from vas_affinity.guest_plan import (
    GuestPlanSettings,
    GuestRequest,
    plan_guests,
    requests_of,
    settings_of,
)
from vas_affinity.machine.reading import read_source
from vas_affinity.machine.snapshot import DeviceKind, PciDevice, Snapshot
from vas_affinity.placement import CpuRole, HostPlacement
from vas_cluster.model import Guest, Host, Macs, Nics
from vas_core.cli import run_command

MACHINES = Path(__file__).parent / "machines"
SITE = Path(__file__).parents[2] / "cluster" / "examples" / "four-oss.yaml"
NAMES = sorted(path.name for path in MACHINES.iterdir() if path.suffix in (".xml", ".bz2"))


@cache
def captured(name: str) -> Snapshot:
    return read_source(MACHINES / name)


def planned(name: str, vcpus: int) -> HostPlacement:
    return plan_guests(captured(name), [GuestRequest(name="vm1", vcpus=vcpus)])


@pytest.mark.unhurried
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("junk", [False, True])
def test_a_captured_machine_has_room_for_guests(name: str, junk: bool) -> None:
    snapshot, settings = captured(name), GuestPlanSettings(junk_siblings=junk)
    for requests in ([GuestRequest(name="vm1", vcpus=3)], [*guests(2, 1)], [*guests(4)]):
        plan = plan_guests(snapshot, requests, settings)
        check_plan(snapshot, requests, settings, plan)


def guests(*vcpus: int) -> list[GuestRequest]:
    return [GuestRequest(name=f"vm{n}", vcpus=count) for n, count in enumerate(vcpus, 1)]


@pytest.mark.unhurried
def test_a_guest_is_on_the_node_of_the_storage_device() -> None:
    """Nobody captured the interrupts of this machine, but the place of its disks."""
    name = "32em64t-2n8c+dax+nvme+mic+dimms.tar.bz2"
    topology, plan = captured(name).topology, planned(name, 4)
    assert {topology.cpu(cpu).node for cpu in vcpus_of(plan, "vm1")} == {0}
    assert "not known where nvme0, on node 0, interrupts" in "\n".join(plan.notes)
    assert plan.memory[0].nodes == (0,)


def test_the_vcpus_of_a_hybrid_machine_are_on_its_fast_cores() -> None:
    name = "20em64t-hybrid-1p6c2t+2ca4co1t.tar.bz2"
    topology, plan = captured(name).topology, planned(name, 4)
    fastest = max(cpu.efficiency or 0 for cpu in topology.cpus)
    assert {topology.cpu(cpu).efficiency for cpu in vcpus_of(plan, "vm1")} == {fastest}
    assert plan.shapes[0].threads == 2


def test_siblings_that_are_offline_are_left_out() -> None:
    name = "16em64t-4s2c2t-offlines.tar.bz2"
    topology = captured(name).topology
    assert len(topology.online) < len(topology.cpus)
    assert set(planned(name, 4).roles) == set(topology.online)


def disk(name: str, node: int, *names: str) -> PciDevice:
    return PciDevice(
        name=name, names=names, kind=DeviceKind.STORAGE, address=f"0000:0{node}:00.0", node=node
    )


def site_host(*devices: str) -> Host:
    guest = Guest(
        name="vm1",
        address="10.0.0.21",
        macs=Macs(vf="52:54:00:77:01:01", virtio="52:54:00:77:01:02"),
        memory="6GiB",
        vcpus=4,
    )
    return Host(
        name="oss1",
        address="10.0.0.11",
        nids=["10.0.0.11@tcp"],
        osts=[0],
        nics=Nics(pf="ens1f0", vf="ens1v0", bridge="br0"),
        storage_devices=list(devices),
        guests=[guest],
    )


def test_the_map_says_the_guests_and_which_devices_are_the_storage_servers() -> None:
    described = site_host("/dev/nvme0n1")
    (request,) = requests_of(described)
    assert (request.name, request.vcpus, request.memory_bytes) == ("vm1", 4, 6 << 30)
    assert request.iothreads == described.guests[0].iothreads == 1
    topology = machine(nodes=2, cores=8)
    disks = (disk("nvme0", 1), disk("sda", 0, "sda"))
    snapshot = host(topology, nvme(40, 1, device="sda")).model_copy(update={"devices": disks})
    plan = plan_guests(snapshot, [request], settings_of(described))
    assert {topology.cpu(cpu).node for cpu in vcpus_of(plan, "vm1")} == {1}
    assert cores_with(topology, plan, {CpuRole.STORAGE_IRQ}) == {8}


@pytest.mark.unhurried
@pytest.mark.parametrize("called", ["oss01.hpc.example", "oss01"])
def test_the_command_plans_a_host_of_the_map(
    called: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = MACHINES / "128arm-2pa2n8cluster4co.tar.bz2"
    words = ["affinity", "plan", "--from", str(source), "--cluster", str(SITE), "--json"]
    assert run_command([*words, "--host", called]) == 0
    plan = HostPlacement.model_validate_json(capsys.readouterr().out)
    assert plan.host == "oss01.hpc.example"
    assert len(vcpus_of(plan, "vas01.hpc.example")) == 16
    assert "not known of oss01.hpc.example: ost0000, ost0001" in "\n".join(plan.notes)


def test_a_device_of_the_map_that_is_not_known_is_said() -> None:
    snapshot = host(machine(), nvme(40, 1))
    plan = plan_guests(snapshot, guests(2), settings_of(site_host("/dev/mapper/ost0")))
    assert "not known of oss1: ost0" in "\n".join(plan.notes)
    assert plan.roles[1] is CpuRole.STORAGE_IRQ


def test_an_optical_drive_and_an_empty_controller_are_no_storage() -> None:
    empty = disk("0000:00:00.0", 0)
    drives = (disk("sr0", 0, "sr0"), empty, disk("sda", 1, "sda"))
    snapshot = host(machine(nodes=2)).model_copy(update={"devices": drives})
    plan = plan_guests(snapshot, guests(2))
    assert cores_with(snapshot.topology, plan, {CpuRole.STORAGE_IRQ}) == {6}
