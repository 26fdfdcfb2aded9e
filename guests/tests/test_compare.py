"""Comparing a domain with what libvirt has of it."""

from __future__ import annotations

from copy import deepcopy
from xml.etree import ElementTree as Xml

import pytest

from vas_guest.compare import GuestDifference, counts_from_a_start, differences

WISHED = """
<domain type="kvm">
  <memory unit="KiB">1024</memory>
  <cputune><vcpupin vcpu="0" cpuset="6"/></cputune>
  <os><type arch="x86_64" machine="q35">hvm</type></os>
  <cpu mode="host-passthrough"/>
  <devices>
    <disk type="file" device="disk">
      <driver name="qemu" cache="none"/><source file="/a"/><target dev="vda" bus="virtio"/>
    </disk>
    <interface type="bridge"><mac address="52:54:00:00:00:01"/><source bridge="br0"/></interface>
    <watchdog model="i6300esb" action="reset"/>
  </devices>
</domain>
"""


def filled_in() -> Xml.Element:
    """As libvirt gives it back: with what nobody had said."""
    root = Xml.fromstring(WISHED)
    root.append(Xml.fromstring('<currentMemory unit="KiB">1024</currentMemory>'))
    machine = root.find("os/type")
    assert machine is not None
    machine.set("machine", "pc-q35-7.2")
    part(root, "cpu").set("migratable", "on")
    devices = part(root, "devices")
    for child in devices:
        child.append(Xml.fromstring('<address type="pci" slot="0x04"/>'))
    devices.append(Xml.fromstring('<controller type="pci" index="0" model="pcie-root"/>'))
    devices.append(Xml.fromstring('<watchdog model="itco" action="reset"/>'))
    devices.insert(0, Xml.fromstring("<emulator>/usr/bin/qemu-system-x86_64</emulator>"))
    return root


def part(root: Xml.Element, path: str) -> Xml.Element:
    found = root.find(path)
    assert found is not None
    return found


def found_in(root: Xml.Element) -> dict[str, tuple[str | None, str | None]]:
    return {one.where: (one.wished, one.found) for one in differences(Xml.fromstring(WISHED), root)}


def test_what_libvirt_fills_in_is_no_difference() -> None:
    assert found_in(filled_in()) == {}


def test_order_is_no_difference() -> None:
    root = filled_in()
    devices = part(root, "devices")
    devices[:] = reversed(deepcopy(list(devices)))
    assert found_in(root) == {}


@pytest.mark.parametrize(
    ("path", "attribute", "value", "where"),
    [
        ("cputune/vcpupin", "cpuset", "7", "/domain/cputune/vcpupin[0]@cpuset"),
        ("devices/disk/driver", "cache", "writeback", "/domain/devices/disk[vda]/driver@cache"),
        ("devices/disk/source", "file", "/b", "/domain/devices/disk[vda]/source@file"),
        ("os/type", "machine", "pc-i440fx-7.2", "/domain/os/type@machine"),
        (".", "type", "qemu", "/domain@type"),
    ],
)
def test_a_changed_value_is_named(path: str, attribute: str, value: str, where: str) -> None:
    root = filled_in()
    part(root, path).set(attribute, value)
    assert list(found_in(root)) == [where]


def test_a_wrong_mac_is_a_nic_too_few_and_one_too_many() -> None:
    root = filled_in()
    part(root, "devices/interface/mac").set("address", "52:54:00:00:00:09")
    found = found_in(root)
    assert found["/domain/devices/interface[52:54:00:00:00:01]"] == ("", None)
    assert found["/domain/devices/interface[52:54:00:00:00:09]"] == (None, "")


@pytest.mark.parametrize(
    ("parent", "more"),
    [
        ("cputune", '<vcpupin vcpu="1" cpuset="9"/>'),
        ("cputune", '<emulatorpin cpuset="9"/>'),
        ("os", "<kernel>/k</kernel>"),
        (".", '<memtune><hard_limit unit="KiB">1</hard_limit></memtune>'),
        ("devices/interface", '<mtu size="9000"/>'),
        (".", '<numatune><memory mode="strict" nodeset="1"/></numatune>'),
        ("devices", '<hostdev mode="subsystem" type="pci"/>'),
        ("devices", '<disk type="file" device="disk"><target dev="vdb"/></disk>'),
    ],
)
def test_what_would_undo_the_wish_may_not_be_there(parent: str, more: str) -> None:
    root = filled_in()
    (root if parent == "." else part(root, parent)).append(Xml.fromstring(more))
    assert len(found_in(root)) >= 1


def test_what_was_dropped_is_named() -> None:
    root = filled_in()
    root.remove(part(root, "cputune"))
    assert found_in(root)["/domain/cputune/vcpupin[0]@cpuset"] == ("6", None)


@pytest.mark.parametrize(
    ("where", "counts"),
    [
        ("/domain[vm1]", True),
        ("/domain/devices/disk[vdb]", True),
        ("/var/lib/vas/seed/vm1.iso:user-data", False),
        ("/network[vas-ens1f0]/forward", False),
        ("/var/lib/libvirt/images/domain.qcow2", False),
    ],
)
def test_a_definition_counts_from_a_start_and_a_seed_is_read_no_more(
    where: str, counts: bool
) -> None:
    seed = GuestDifference("/var/lib/vas/seed/vm1.iso:meta-data", "new", "old")
    assert counts_from_a_start([seed, GuestDifference(where, "new", "old")]) is counts
    assert not counts_from_a_start([])
