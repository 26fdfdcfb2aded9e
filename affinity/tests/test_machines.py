"""Every captured machine reads, and both decoders agree on it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from vas_affinity.machine.reading import read_source
from vas_affinity.machine.snapshot import PciDevice, Snapshot
from vas_affinity.machine.topology import Nearness

MACHINES = Path(__file__).parent / "machines"
TREES = sorted(path.name.removesuffix(".tar.bz2") for path in MACHINES.glob("*.tar.bz2"))
XMLS = sorted(path.name.removesuffix(".xml") for path in MACHINES.glob("*.xml"))


@cache
def machine(name: str) -> Snapshot:
    tree = MACHINES / f"{name}.tar.bz2"
    return read_source(tree if tree.exists() else MACHINES / f"{name}.xml")


def by_lstopo(name: str) -> Snapshot:
    return read_source(MACHINES / "lstopo" / f"{name}.xml")


def test_all_machines_are_here() -> None:
    assert (len(TREES), len(XMLS)) == (8, 3)


@pytest.mark.unhurried
@pytest.mark.parametrize("name", [*TREES, *XMLS])
def test_groups_hold_one_another(name: str) -> None:
    topology = machine(name).topology
    assert topology.name == name
    for number in topology.online:
        cpu = topology.cpu(number)
        for group in ("core", "l2", "l3", "die", "package"):
            lowest = topology.cpu(getattr(cpu, group))
            assert lowest.online and lowest.number <= number
            assert getattr(lowest, group) == lowest.number, group
        core = topology.cpu(cpu.core)
        assert (core.l2, core.l3, core.die, core.package) == (cpu.l2, cpu.l3, cpu.die, cpu.package)
        assert topology.cpu(cpu.die).package == cpu.package
        assert cpu.node in {node.number for node in topology.nodes}


@pytest.mark.unhurried
@pytest.mark.parametrize("name", [*TREES, *XMLS])
def test_nodes_have_memory_and_see_themselves_nearest(name: str) -> None:
    nodes = machine(name).topology.nodes
    for node in nodes:
        assert node.memory_bytes > 1 << 30
        assert node.distances == {} or min(node.distances.values()) == node.distances[node.number]
        assert node.distances == {} or set(node.distances) == {n.number for n in nodes}


@pytest.mark.parametrize("name", TREES)
def test_tree_and_xml_agree(name: str) -> None:
    tree, xml = machine(name), by_lstopo(name)
    assert tree.topology.cpus == xml.topology.cpus
    assert tree.topology.nodes == xml.topology.nodes
    assert [identity(device) for device in tree.devices] == [identity(d) for d in xml.devices]
    for device, other in zip(tree.devices, xml.devices, strict=True):
        # hwloc gives all that is behind a host bridge the place of the bridge.
        assert set(device.cpus) <= set(other.cpus)
        assert other.node in (device.node, None)


def identity(device: PciDevice) -> tuple[object, ...]:
    return device.name, device.kind, device.address, device.names


@pytest.mark.parametrize("name", [*TREES, *XMLS])
def test_a_snapshot_survives_json(name: str, tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(machine(name).model_dump_json())
    assert read_source(path) == machine(name)


SHAPES = {
    # packages, dies, last-level caches, L2, cores, online CPUs, nodes: as hwloc's names say.
    "128arm-2pa2n8cluster4co": (2, 2, 4, 128, 128, 128, 4),
    "16em64t-4s2c2t-offlines": (4, 4, 4, 7, 7, 12, 1),
    "16intel64-manyVFs": (2, 2, 2, 16, 16, 16, 2),
    "20em64t-hybrid-1p6c2t+2ca4co1t": (1, 1, 1, 8, 14, 20, 1),
    "24em64t-2n6c2t-pci": (2, 2, 2, 12, 12, 24, 2),
    "32em64t-2n8c+dax+nvme+mic+dimms": (2, 2, 2, 16, 16, 16, 2),
    "40intel64-2g2n4c+pcilocality": (4, 4, 4, 40, 40, 40, 4),
    "64amd64-4s2n4ca2co": (4, 4, 8, 32, 64, 64, 8),
    "8em64t-2s4c-asymcaches": (2, 2, 5, 5, 8, 8, 1),
    "96em64t-4n4d3ca2co-pci": (16, 16, 16, 48, 96, 96, 4),
    "96em64t-4no4pa3ca2co": (16, 16, 16, 48, 96, 96, 4),
}


@pytest.mark.parametrize("name", [*TREES, *XMLS])
def test_shape(name: str) -> None:
    topology = machine(name).topology
    cpus = [topology.cpu(number) for number in topology.online]
    groups = ("package", "die", "l3", "l2", "core", "number")
    counts = tuple(len({getattr(cpu, group) for cpu in cpus}) for group in groups)
    assert (*counts, len(topology.nodes)) == SHAPES[name]


def test_offline_cpus_are_alone() -> None:
    topology = machine("16em64t-4s2c2t-offlines").topology
    offline = [cpu for cpu in topology.cpus if not cpu.online]
    assert [cpu.number for cpu in offline] == [2, 5, 13, 14]
    assert all(cpu.node is None and cpu.core == cpu.number == cpu.package for cpu in offline)


def test_hybrid_kinds() -> None:
    cpus = machine("20em64t-hybrid-1p6c2t+2ca4co1t").topology.cpus
    assert [cpu.efficiency for cpu in cpus] == [1] * 12 + [0] * 8


def test_nearness_on_amd_modules() -> None:
    topology = machine("64amd64-4s2n4ca2co").topology
    assert topology.siblings(0) == (0,)
    assert topology.cpu(1).l2 == 0
    assert topology.nearness(0, 1) is Nearness.CACHE
    assert topology.nearness(0, 8) is Nearness.PACKAGE


def test_storage_is_known_without_interrupts() -> None:
    snapshot = machine("32em64t-2n8c+dax+nvme+mic+dimms")
    nvme = snapshot.devices[0]
    assert (nvme.name, nvme.driver, nvme.node, nvme.cpus) == ("nvme0", "nvme", 0, (0, 1, 2, 3))
