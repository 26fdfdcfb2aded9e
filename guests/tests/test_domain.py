"""A guest's domain from the map."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_cluster import Cluster, Guest, load_cluster
from vas_core.errors import BadInput
from vas_guest.domain import domain, guest_uuid, to_text
from vas_guest.network import has, network, network_name
from vas_guest.settings import Accelerator, GuestSettings, read_settings

SITE = Path(__file__).parents[2] / "cluster/examples/four-oss.yaml"
PLACEMENT = """
<domain type="kvm">
  <name>vas01.hpc.example</name>
  <memory unit="KiB">67108864</memory>
  <memoryBacking><hugepages><page size="1048576" unit="KiB"/></hugepages></memoryBacking>
  <vcpu placement="static">16</vcpu>
  <iothreads>1</iothreads>
  <cputune>
    <vcpupin vcpu="0" cpuset="6"/>
    <emulatorpin cpuset="16"/>
    <iothreadpin iothread="1" cpuset="4"/>
  </cputune>
  <numatune><memory mode="strict" nodeset="0"/></numatune>
  <cpu mode="host-passthrough"><topology sockets="1" cores="8" threads="2"/></cpu>
</domain>
"""


def cluster() -> Cluster:
    return load_cluster(SITE)


def made(settings: GuestSettings | None = None, placement: str | None = None) -> Xml.Element:
    site = cluster()
    placed = Xml.fromstring(placement) if placement else None
    return domain(site, site.guest("vas01.hpc.example"), settings or GuestSettings(), placed)


def changed(**update: object) -> Guest:
    return cluster().guest("vas01.hpc.example").model_copy(update=update)


def test_the_same_map_gives_the_same_bytes() -> None:
    assert to_text(made()) == to_text(made())


def test_a_guest_is_the_same_one_for_ever_and_no_other_is() -> None:
    site = cluster()
    found = [guest_uuid(site, guest) for guest in site.guests()]
    assert len(set(found)) == len(found)
    assert found[0] == "d1e2c0f0-5636-532a-92d3-36c23e5405f9"
    assert all(uuid.UUID(one).version == 5 for one in found)


def test_disks_go_past_the_hosts_page_cache_by_an_iothread() -> None:
    driver = made().find("devices/disk[@device='disk']/driver")
    assert driver is not None
    assert driver.attrib == {
        "name": "qemu",
        "type": "qcow2",
        "cache": "none",
        "io": "native",
        "discard": "unmap",
        "iothread": "1",
    }


def test_disks_take_the_iothreads_of_the_map_in_turn() -> None:
    disks = [cluster().hosts[0].guests[0].disks[0].model_copy() for _ in range(3)]
    root = domain(cluster(), changed(iothreads=2, disks=disks), GuestSettings())
    drivers = root.iterfind("devices/disk[@device='disk']/driver")
    assert [driver.get("iothread") for driver in drivers] == ["1", "2", "1"]
    assert root.findtext("iothreads") == "2"


def test_the_vf_comes_from_its_hosts_pool_with_mac_and_vlan() -> None:
    site = cluster()
    vf, virtio = made(GuestSettings(vlan=42)).findall("devices/interface")
    source, tag = vf.find("source"), vf.find("vlan/tag")
    assert source is not None and source.get("network") == network_name(site.hosts[0])
    assert tag is not None and tag.get("id") == "42"
    assert [mac.get("address") for nic in (vf, virtio) for mac in nic.findall("mac")] == [
        "52:54:00:0a:01:01",
        "52:54:00:0a:01:02",
    ]


def test_the_pool_has_the_guests_vfs_and_no_other() -> None:
    site = cluster()
    functions = ["0000:03:10.1", "0000:81:1f.7"]
    made_ = network(site, site.hosts[0], functions)
    assert [dict(one.attrib) for one in made_.iterfind("forward/*")][1] == {
        "type": "pci",
        "domain": "0x0000",
        "bus": "0x81",
        "slot": "0x1f",
        "function": "0x7",
    }
    assert has(made_) == " ".join(functions)
    former = Xml.fromstring(
        "<network><forward mode='hostdev'><pf dev='ens1f0'/></forward></network>"
    )
    assert has(former) == "pf ens1f0"


def test_a_placement_is_taken_over_whole() -> None:
    root = made(placement=PLACEMENT)
    placed = Xml.fromstring(PLACEMENT)
    for tag in ("cputune", "numatune", "memoryBacking", "cpu"):
        ours, given_ = root.find(tag), placed.find(tag)
        assert ours is not None and given_ is not None
        assert Xml.canonicalize(Xml.tostring(ours), strip_text=True) == Xml.canonicalize(
            Xml.tostring(given_), strip_text=True
        )


def test_what_is_emulated_has_no_hosts_processor() -> None:
    cpu = made(GuestSettings(accelerator=Accelerator.TCG), PLACEMENT).find("cpu")
    assert cpu is not None and cpu.attrib == {"mode": "maximum"}
    assert cpu.find("topology") is not None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("vas01.hpc", "vas02.hpc", "places vas02.hpc.example"),
        (">16<", ">8<", "vcpu is 8, and 16 in the map"),
        (">67108864<", ">4096<", "memory is 4096"),
    ],
)
def test_a_placement_of_something_else_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        made(placement=PLACEMENT.replace(old, new))


def test_an_odd_number_of_vcpus_is_current_of_one_more() -> None:
    odd = PLACEMENT.replace(
        '<vcpu placement="static">16', '<vcpu placement="static" current="16">17'
    )
    found = made(placement=odd).find("vcpu")
    assert found is not None and (found.text, found.get("current")) == ("17", "16")


def test_a_guest_needs_a_disk() -> None:
    site, guest = cluster(), changed(disks=[])
    with pytest.raises(BadInput, match="has no disk"):
        domain(site, guest, GuestSettings())


@pytest.mark.unhurried
@given(st.integers(min_value=1, max_value=800))
def test_every_disk_has_a_name_of_its_own(count: int) -> None:
    site = cluster()
    one = site.guests()[0].disks[0]
    root = domain(site, changed(disks=[one] * count), GuestSettings())
    names = [target.get("dev") for target in root.findall("devices/disk[@device='disk']/target")]
    assert len(set(names)) == count
    assert names[0] == "vda" and (count < 27 or names[26] == "vdaa")


def test_block_devices_and_raw_files_are_told_apart() -> None:
    disks = [
        cluster().guests()[0].disks[0].model_copy(update={"path": path})
        for path in ("/dev/vg/vas01", "/var/lib/vas/vas01.raw")
    ]
    root = domain(cluster(), changed(disks=disks), GuestSettings())
    found = [
        (disk.get("type"), driver.get("type"), dict(source.attrib))
        for disk in root.findall("devices/disk[@device='disk']")
        if (driver := disk.find("driver")) is not None
        and (source := disk.find("source")) is not None
    ]
    assert found == [
        ("block", "raw", {"dev": "/dev/vg/vas01"}),
        ("file", "raw", {"file": "/var/lib/vas/vas01.raw"}),
    ]


@pytest.mark.parametrize(("accelerator", "more_mib"), [("kvm", 0), ("qemu", 1024)])
def test_a_guest_may_use_its_memory_and_what_qemu_needs(accelerator: str, more_mib: int) -> None:
    root = made(GuestSettings(accelerator=Accelerator(accelerator), overhead_mib=2048))
    # 64 GiB, a 256th of it for tables, 8 MiB for each of 16 vCPUs and the iothread.
    wished = (65536 + 256 + 17 * 8 + 2048 + more_mib) << 10
    assert root.findtext("memtune/hard_limit") == str(wished)
    assert made(GuestSettings(memory_limit=False)).find("memtune") is None


def test_every_leg_has_the_fabrics_mtu() -> None:
    bridges = GuestSettings(virtual_function=False, fabric_bridge="fabric0", mtu=9000)
    sizes = [mtu.get("size") for mtu in made(bridges).iterfind("devices/interface/mtu")]
    assert sizes == ["9000", "9000"]
    vf, virtio = made(GuestSettings(mtu=9000)).findall("devices/interface")
    assert vf.find("mtu") is None and virtio.find("mtu") is not None
    assert made().find("devices/interface/mtu") is None


def test_a_kernel_that_nobody_signed_boots() -> None:
    system = made().find("os")
    assert system is not None and system.get("firmware") == "efi"
    feature = system.find("firmware/feature[@name='secure-boot']")
    assert feature is not None and feature.get("enabled") == "no"


def test_settings_name_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "guest.yaml"
    file.write_text("vlan: 5000\n")
    with pytest.raises(BadInput, match="vlan"):
        read_settings(file)
    file.write_text("initrd: /x\n")
    with pytest.raises(BadInput, match="need kernel"):
        read_settings(file)
    file.write_text("accelerator: qemu\nkernel: /k\ninitrd: /i\nkernel_command_line: ro\n")
    system = made(read_settings(file)).find("os")
    assert system is not None and system.get("firmware") is None
    assert [child.tag for child in system] == ["type", "kernel", "initrd", "cmdline"]


def test_what_it_prints_is_kept_where_the_settings_say() -> None:
    log = made(GuestSettings(consoles="/var/log/guests")).find("devices/console/log")
    assert log is not None
    assert log.get("file") == "/var/log/guests/vas01.hpc.example-console.log"


def test_without_virtual_functions_the_fabric_is_a_bridge() -> None:
    settings = GuestSettings(virtual_function=False, fabric_bridge="fabric0")
    macs = cluster().guest("vas01.hpc.example").macs
    nics = [
        (nic.find("mac").get("address"), nic.find("source").get("bridge"))  # type: ignore[union-attr]
        for nic in made(settings).iterfind("devices/interface")
    ]
    assert nics == [(macs.vf, "fabric0"), (macs.virtio, "vasbr0")]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({}, "fabric_bridge needs virtual_function: false"),
        ({"virtual_function": False, "vlan": 4}, "of that VLAN"),
    ],
)
def test_a_fabric_that_cannot_be_is_refused(more: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        GuestSettings(fabric_bridge="fabric0", **more)
