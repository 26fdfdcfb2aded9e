"""The role `storage_host` makes real virtual functions: igb's, of a machine with an IOMMU."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from vas_core.repository import REPOSITORY
from vas_core.xmltree import parse_xml
from vas_tests.hosts import Site, site_of_hosts
from vas_tests.hosts.cycle import made_true, play_role, role_playbook
from vas_tests.hosts.host import EmulatedHost
from vas_tests.sriov import server as machine
from vas_tests.sriov.needs import missing

_LACKS = [p for p in ("mmdebstrap", "ssh", "nsenter", "mke2fs") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(5400),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
ADAPTER = "/sys/class/net/pf0/device"
Variables = dict[str, object]
# Packages come and go in tests/test_ansible_storage.py, where that takes no quarter of an hour.
STORAGE: Variables = {
    "ansible_ssh_timeout": 60,
    "vas_storage_host_packages": False,
    "vas_storage_host_virtual_functions": True,
    "vas_storage_host_interrupt": True,
}
GUEST: Variables = {
    "ansible_ssh_timeout": 60,
    "vas_guest_boot_timeout": 0,
    "vas_guest_settings": {"kernel": machine.KERNEL},
}


@pytest.fixture(scope="module")
def site(program_archive: Variables, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The storage server, a machine now, with the program and a map of one guest."""
    if lacking := missing():
        pytest.skip(f"no virtual functions without {'; '.join(lacking)}")
    directory = tmp_path_factory.mktemp("site")
    first = directory / "map.yaml"
    first.write_text(machine.map_with(1))
    with site_of_hosts(directory, [machine.NAME], first) as made:
        play_role(made, "program", "vas_oss", program_archive)
        machine.booted(made, REPOSITORY / "build" / "sriov")
        yield made


@pytest.fixture(scope="module")
def server(site: Site) -> EmulatedHost:
    return site.hosts[machine.NAME]


def functions(server: EmulatedHost) -> list[str]:
    """The driver of each virtual function of the adapter, "" where it has none."""
    found = []
    for number in range(int(server.run("cat", f"{ADAPTER}/sriov_numvfs").stdout)):
        link = f"{ADAPTER}/virtfn{number}/driver"
        found.append(server.run("readlink", link, check=False).stdout.strip().rpartition("/")[2])
    return found


def test_the_virtual_functions(site: Site, server: EmulatedHost) -> None:
    """Made once, seen by the second run, not taken from a guest; units and files go again."""
    assert functions(server) == []
    with made_true(site, "storage_host", "vas_oss", STORAGE, leaves=("/usr", "/opt")):
        assert functions(server) == [""]
        assert server.run("systemctl", "is-active", "vas-vfs.service").stdout.strip() == "active"
        a_guest_has_one(site, server)
        assert functions(server) == [""]
    # Until the next boot, as the role's README says.
    assert functions(server) == [""]


def a_guest_has_one(site: Site, server: EmulatedHost) -> None:
    """The role `guest` gives it one, from which the role `storage_host` does not take it."""
    play_role(site, "guest", "vas_oss", GUEST)
    assert functions(server) == ["vfio-pci"]
    started = parse_xml(server.run("virsh", "dumpxml", "vm1").stdout, where="vm1")
    assert started.find("devices/interface[@type='hostdev']") is not None
    assert site.cluster.guest("vm1").macs.vf in server.run("ip", "link", "show", "pf0").stdout
    wish(site, server, 2)
    playbook = role_playbook(site, "storage_host", "vas_oss")
    refused = site.play(playbook, STORAGE, check=False)
    assert "shut the guests down that have virtfn0" in " ".join(refused.text.split())
    assert functions(server) == ["vfio-pci"]
    assert server.run("virsh", "domstate", "vm1").stdout.strip() == "running"
    wish(site, server, 1)
    server.run("virsh", "destroy", "vm1")
    play_role(site, "guest", "vas_oss", GUEST | {"vas_guest_state": "absent"})


def wish(site: Site, server: EmulatedHost, guests: int) -> None:
    """Gives controller and server, as the role `program` does, a map with so many guests."""
    site.map.write_text(machine.map_with(guests))
    server.run("tee", "/etc/vas/cluster.yaml", stdin=site.map.read_text())
