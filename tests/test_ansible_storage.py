"""A storage server gets libvirt, a bridge and a guest; what goes wrong is put right."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from vas_tests.hosts import Site, site_of_hosts
from vas_tests.hosts.cycle import made_true, play_role, role_playbook
from vas_tests.hosts.guest import DISKS, SETTINGS, WORD, make_image
from vas_tests.hosts.host import EmulatedHost

_LACKS = [p for p in ("mmdebstrap", "ssh", "qemu-img", "nsenter") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
_MAC = "52:54:00:77:01:02"
Variables = dict[str, object]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The storage server alone, without the bridge that the other tests' guests are on."""
    with site_of_hosts(tmp_path_factory.mktemp("site"), ["oss1"]) as made:
        made.hosts["oss1"].in_net("ip", "link", "delete", "vasbr0")
        yield made


@pytest.fixture(scope="module")
def server(site: Site) -> EmulatedHost:
    return site.hosts["oss1"]


def test_what_a_server_lacks_is_said_before_it_is_changed(site: Site) -> None:
    """It has neither KVM, nor virtual functions, nor a time server."""
    wished = site.play(role_playbook(site, "hostcheck", "vas_oss"), {}, check=False).text
    assert all(f"oss1: {check}: " in wished for check in ("time", "kvm", "iommu", "vfs"))
    lab = SETTINGS | {"vas_hostcheck_accepted": ["time", "links"]}
    assert play_role(site, "hostcheck", "vas_oss", lab).changes() == 0


def test_the_storage_server(site: Site, server: EmulatedHost) -> None:
    with made_true(site, "storage_host", "vas_oss", SETTINGS):
        assert server.run("virsh", "uri").stdout.strip() == "qemu:///system"
        bridge = server.run("ip", "-o", "link", "show", "vasbr0").stdout
        assert ",UP" in bridge
        assert " mtu 1500 " in bridge


def test_a_bridge_that_was_there_stays(site: Site, server: EmulatedHost) -> None:
    server.run("ip", "link", "add", "vasbr0", "type", "bridge")
    # Up, as one in use is; the kernel gives it no address some seconds later.
    server.run("ip", "link", "set", "vasbr0", "addrgenmode", "none", "up")
    with made_true(site, "storage_host", "vas_oss", SETTINGS):
        pass
    server.run("ip", "link", "delete", "vasbr0")


@pytest.fixture(scope="module")
def prepared(
    site: Site, archives: Variables, tmp_path_factory: pytest.TempPathFactory
) -> Variables:
    """A server with the program, and an image for its guests."""
    image = make_image(tmp_path_factory.mktemp("image") / "image")
    variables = archives | SETTINGS | {"vas_guest_image": str(image)}
    for role in ("program", "storage_host"):
        play_role(site, role, "vas_oss", variables)
    return variables


def test_the_guests(site: Site, server: EmulatedHost, prepared: Variables) -> None:
    disk = f"{DISKS}/vm1.qcow2"
    with made_true(site, "guest", "vas_oss", prepared, leaves=(DISKS,)):
        assert server.run("virsh", "list", "--name").stdout.split() == ["vm1"]
        assert _MAC in server.run("virsh", "domiflist", "vm1").stdout
        before = server.run("stat", "--format=%i %Y", disk).stdout
        refused = site.play(
            role_playbook(site, "guest", "vas_oss"),
            prepared | {"vas_guest_state": "absent"},
            check=False,
        )
        assert "shut it down first" in refused.text
        server.run("virsh", "destroy", "vm1")
    assert server.run("stat", "--format=%i %Y", disk).stdout == before
    server.run("rm", "-r", DISKS)


def test_a_guest_that_does_not_boot_is_shown_by_its_console(
    site: Site, server: EmulatedHost, prepared: Variables
) -> None:
    playbook = role_playbook(site, "guest", "vas_oss")
    failed = site.play(playbook, prepared | {"vas_guest_boot_timeout": 3}, check=False)
    assert "waited 3 s for the agent of vm1" in failed.text
    assert WORD in failed.text
    assert site.play(playbook, prepared).changes() == 0
    _forget(site, server, prepared)


def test_a_disk_that_is_full_leaves_no_half_of_a_guest(
    site: Site, server: EmulatedHost, prepared: Variables
) -> None:
    playbook = role_playbook(site, "guest", "vas_oss")
    server.run("mkdir", DISKS)
    server.run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", DISKS)
    failed = site.play(playbook, prepared, check=False)
    assert "No space left on device" in failed.text
    assert server.run("ls", "-A", DISKS).stdout == ""
    assert server.run("virsh", "list", "--all", "--name").stdout.split() == []
    server.run("umount", DISKS)
    assert site.play(playbook, prepared).changed["oss1"] > 0
    _forget(site, server, prepared)


def test_a_wrong_mac_is_put_right(site: Site, server: EmulatedHost, prepared: Variables) -> None:
    playbook = role_playbook(site, "guest", "vas_oss")
    site.play(playbook, prepared)
    wrong = server.run("virsh", "dumpxml", "vm1", "--inactive").stdout.replace(
        _MAC, _MAC[:-1] + "9"
    )
    server.run("virsh", "define", "/dev/stdin", stdin=wrong)
    put_right = site.play(playbook, prepared, "--diff")
    assert _MAC in put_right.text
    assert "vas_guest_restart_required" in put_right.text
    assert _MAC in server.run("virsh", "dumpxml", "vm1", "--inactive").stdout
    assert site.play(playbook, prepared).changes() == 0
    _forget(site, server, prepared)


def _forget(site: Site, server: EmulatedHost, prepared: Variables) -> None:
    server.run("virsh", "destroy", "vm1")
    play_role(site, "guest", "vas_oss", prepared | {"vas_guest_state": "absent"})
    server.run("rm", "-r", DISKS)
