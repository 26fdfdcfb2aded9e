"""The route daemons where virtual functions are real: igb's, of which a guest inside has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_tests.checks import REPOSITORY
from vas_tests.sriov import daemons
from vas_tests.sriov.needs import missing
from vas_tests.sriov.rig import Rig, running
from vas_tests.sriov.traffic import PACKETS, passed, settles, way

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(1500)]

OSS1, OSS2, VM1 = "10.77.0.11", "10.77.0.12", "10.77.0.21"
SWITCH_SECONDS = 180.0
DIRECTORY = REPOSITORY / "build" / "sriov"


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    """The machines, booted, without a route of VAS's."""
    if lacking := missing():
        pytest.skip(f"no virtual functions without {'; '.join(lacking)}")
    with running(DIRECTORY) as booted:
        yield booted


@pytest.fixture(autouse=True)
def explained(rig: Rig, request: pytest.FixtureRequest) -> Iterator[None]:
    """Says what the nodes had when a test failed."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        print(rig.report(), *map(daemons.log, rig.nodes), sep="\n")


def test_the_guest_has_a_virtual_function_with_the_maps_mac(rig: Rig) -> None:
    guest = rig.cluster.guest("vm1")
    assert rig.vm1.target("/sys/class/net/vf0/device/driver") == "igbvf"
    assert rig.vm1.target("/sys/class/net/virtio0/device/driver") == "virtio_net"
    assert rig.oss1.target("/sys/class/net/pf0/device/driver") == "igb"
    assert rig.oss1.target("/sys/class/net/pf0/device/virtfn0/driver") == "vfio-pci"
    (pf,) = rig.oss1.json("ip", "-j", "link", "show", "pf0")
    assert pf["vfinfo_list"][0]["address"] == guest.macs.vf
    (vf,) = rig.vm1.json("ip", "-j", "link", "show", "vf0")
    assert vf["address"] == guest.macs.vf


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
