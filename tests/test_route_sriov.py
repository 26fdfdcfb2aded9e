"""The route daemons where virtual functions are real: igb's, of which a guest inside has one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.errors import VasError
from vas_core.repository import REPOSITORY
from vas_core.xmltree import parse_xml
from vas_tests.kernel import halting_kernel
from vas_tests.sriov import daemons, guests
from vas_tests.sriov.bring_up import VAS, VAS_SECONDS, VF
from vas_tests.sriov.needs import missing
from vas_tests.sriov.node import Node
from vas_tests.sriov.rig import Rig, running
from vas_tests.sriov.traffic import PACKETS, passed, settles, way

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(1500)]

OSS1, OSS2, VM1 = "10.77.0.11", "10.77.0.12", "10.77.0.21"
SWITCH_SECONDS = 180.0
FREE_VF = 0  # the other of the two: libvirt's guest gets it
ADAPTER = "/sys/class/net/pf0/device"
DIRECTORY = REPOSITORY / "build" / "sriov"
KERNEL = DIRECTORY / "halting"


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    """The machines, booted, without a route of VAS's."""
    if lacking := missing():
        pytest.skip(f"no virtual functions without {'; '.join(lacking)}")
    KERNEL.parent.mkdir(parents=True, exist_ok=True)
    KERNEL.write_bytes(halting_kernel(b"halted"))  # before a machine has looked there
    with running(DIRECTORY) as booted:
        yield booted


@pytest.fixture(autouse=True)
def explained(rig: Rig, request: pytest.FixtureRequest) -> Iterator[None]:
    """Says what the nodes had when a test failed."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        print(rig.report(), *map(said, rig.nodes), sep="\n")


def said(node: Node) -> str:
    """What a node's daemon said, or why that is not known: it was not started yet."""
    try:
        return daemons.log(node)
    except VasError as silent:
        return str(silent)


def vf_macs(rig: Rig) -> list[str]:
    (pf,) = rig.oss1.json("ip", "-j", "link", "show", "pf0")
    return [vf["address"] for vf in pf["vfinfo_list"]]


def test_the_guest_has_a_virtual_function_with_the_maps_mac(rig: Rig) -> None:
    guest = rig.cluster.guest("vm1")
    assert rig.vm1.target("/sys/class/net/vf0/device/driver") == "igbvf"
    assert rig.vm1.target("/sys/class/net/virtio0/device/driver") == "virtio_net"
    assert rig.oss1.target("/sys/class/net/pf0/device/driver") == "igb"
    assert rig.oss1.target(f"{ADAPTER}/virtfn{VF}/driver") == "vfio-pci"
    assert rig.oss1.read(f"{ADAPTER}/sriov_drivers_autoprobe").strip() == "0"
    assert vf_macs(rig)[VF] == guest.macs.vf
    (vf,) = rig.vm1.json("ip", "-j", "link", "show", "vf0")
    assert vf["address"] == guest.macs.vf


def desired(rig: Rig, guests_on_it: int) -> str:
    """What `vas guest vfs` says of the storage host with so many guests; VasError if it fails."""
    file = f"/run/{guests_on_it}-guests.yaml"
    rig.oss1.write(file, guests.site_with(guests_on_it))
    command = (VAS, "guest", "vfs", "--json", "--cluster", file)
    return rig.oss1.run(*command, timeout_seconds=VAS_SECONDS)


def test_a_virtual_function_that_the_guest_has_is_never_taken(rig: Rig) -> None:
    with pytest.raises(VasError, match=f"shut the guests down that have virtfn{VF}, and run it"):
        desired(rig, 3)
    assert rig.oss1.read(f"{ADAPTER}/sriov_numvfs").strip() == "2"
    assert rig.oss1.target(f"{ADAPTER}/virtfn{VF}/driver") == "vfio-pci"


def test_without_the_daemons_all_goes_by_sr_iov(rig: Rig) -> None:
    assert way(rig.vm1, OSS1, VM1) == "vf0"
    assert way(rig.vm1, OSS2, VM1) == "vf0"
    assert way(rig.oss1, VM1, OSS1) == "pf0"


def test_the_daemons_send_what_is_for_the_own_host_by_virtio(rig: Rig, tmp_path: Path) -> None:
    daemons.start_all(rig, tmp_path)
    settles(rig.vm1, OSS1, VM1, "virtio0", SWITCH_SECONDS)
    settles(rig.oss1, VM1, OSS1, "br0", SWITCH_SECONDS)
    settles(rig.vm1, OSS2, VM1, "vf0", SWITCH_SECONDS)
    settles(rig.oss2, VM1, OSS2, "wire0", SWITCH_SECONDS)


def test_a_guest_without_its_vf_goes_by_its_host(rig: Rig) -> None:
    rig.vm1.run("ip", "link", "set", "vf0", "down")
    settles(rig.vm1, OSS2, VM1, "virtio0", SWITCH_SECONDS)
    settles(rig.oss2, VM1, OSS2, "wire0", SWITCH_SECONDS)
    sent, received = passed(rig.oss1, "pf0")
    settles(rig.vm1, OSS2, VM1, "virtio0", SWITCH_SECONDS)
    forwarded, answered = passed(rig.oss1, "pf0")
    assert (forwarded - sent, answered - received) >= (PACKETS, PACKETS)
    settles(rig.vm1, OSS1, VM1, "virtio0", SWITCH_SECONDS)


def test_it_is_back_on_its_vf_when_that_is_up(rig: Rig) -> None:
    rig.vm1.run("ip", "link", "set", "vf0", "up")
    settles(rig.vm1, OSS2, VM1, "vf0", SWITCH_SECONDS)
    settles(rig.oss2, VM1, OSS2, "wire0", SWITCH_SECONDS)
    settles(rig.vm1, OSS1, VM1, "virtio0", SWITCH_SECONDS)
    settles(rig.oss1, VM1, OSS1, "br0", SWITCH_SECONDS)
    sent, _ = passed(rig.oss1, "pf0")
    assert way(rig.vm1, OSS2, VM1) == "vf0"
    assert passed(rig.oss1, "pf0")[0] - sent < PACKETS


@pytest.mark.nightly
def test_libvirt_gives_its_guest_a_virtual_function_by_vfio(rig: Rig) -> None:
    others = vf_macs(rig)[VF]
    guests.start_libvirt(rig.oss1, KERNEL)
    guests.vas(rig.oss1, "apply", "--start")
    assert guests.virsh(rig.oss1, "domstate", guests.NAME).strip() == "running"
    assert rig.oss1.target(f"{ADAPTER}/virtfn{FREE_VF}/driver") == "vfio-pci"
    assert vf_macs(rig) == [guests.two().guest(guests.NAME).macs.vf, others]
    started = parse_xml(guests.virsh(rig.oss1, "dumpxml", guests.NAME), where=guests.NAME)
    assert started.find("devices/interface[@type='hostdev']") is not None
    guests.vas(rig.oss1, "verify")


@pytest.mark.nightly
def test_no_other_number_is_made_while_guests_have_them(rig: Rig) -> None:
    with pytest.raises(VasError, match=f"have virtfn{FREE_VF}, virtfn{VF}, and run it again"):
        desired(rig, 3)
    assert json.loads(desired(rig, 1))["steps"] == []
    assert rig.oss1.read(f"{ADAPTER}/sriov_numvfs").strip() == "2"
    assert guests.virsh(rig.oss1, "domstate", guests.NAME).strip() == "running"


@pytest.mark.nightly
def test_a_guest_that_ends_gives_its_virtual_function_back(rig: Rig) -> None:
    guests.virsh(rig.oss1, "destroy", guests.NAME)
    assert "driver" not in rig.oss1.run("ls", f"{ADAPTER}/virtfn{FREE_VF}/").split()
    assert rig.oss1.target(f"{ADAPTER}/virtfn{VF}/driver") == "vfio-pci"
