"""site.yml on three machines, twice, then teardown.yml: the machines are as they were before.

The guest is two: a real libvirt has a domain of it that speaks once and halts, and what Ansible
reaches at its address is a machine in namespaces.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY
from vas_tests.hosts import PlaybookOutcome, Site, site_of_hosts
from vas_tests.hosts.compare import differences, look
from vas_tests.hosts.guest import DISKS, SETTINGS, make_image
from vas_tests.hosts.yarn import running_nodes

_LACKS = [p for p in ("mmdebstrap", "ssh", "qemu-img", "nsenter") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
_PLAYBOOKS = REPOSITORY / "ansible"
_SECONDS = 1200.0
Variables = dict[str, object]
# There is no Lustre here, and no time server.
_WITHOUT: Variables = {
    "vas_lustre_client_started": False,
    "vas_hadoop_properties": {"vas.layout.required": "false"},
    "vas_hostcheck_accepted": ["time", "links"],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site_of_hosts(tmp_path_factory.mktemp("site")) as made:
        yield made


def test_a_site_from_bare_machines_to_yarn_and_back(
    site: Site, archives: Variables, tmp_path: Path
) -> None:
    image = make_image(tmp_path / "image")
    variables = archives | SETTINGS | _WITHOUT | {"vas_guest_image": str(image)}
    before = {name: look(host) for name, host in site.hosts.items()}
    for name in ("vm1", "rm1"):
        # In place of Lustre: the site's own mount, which is used, and stays.
        site.hosts[name].run("mkdir", "/scratch")
        site.hosts[name].run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/scratch")

    would = _play(site, "site.yml", variables, "--check", "--diff")
    assert would.text.count("failed=0") == len(would.changed)
    assert all(would.changed[name] > 0 for name in site.hosts), would.text
    for words in ((), ("--check", "--diff")):
        done = _play(site, "site.yml", variables, *words)
        assert done.text.count("failed=0") == len(done.changed)
        if words:
            assert done.changes() == 0, done.text
    _is_in_force(site)
    again = _play(site, "site.yml", variables)
    assert again.changes() == 0, again.text

    oss1 = site.hosts["oss1"]
    refused = _play(site, "teardown.yml", variables, check=False)
    assert "shut it down first" in refused.text
    assert refused.changes() == 0, refused.text
    oss1.run("virsh", "destroy", "vm1")
    _play(site, "teardown.yml", variables)
    assert _play(site, "teardown.yml", variables).changes() == 0
    for name in ("vm1", "rm1"):
        site.hosts[name].run("umount", "/scratch")
        site.hosts[name].run("rmdir", "/scratch")
    for name, host in site.hosts.items():
        assert differences(before[name], look(host, (DISKS,))) == "", name


def _play(
    site: Site, name: str, variables: Variables, *words: str, check: bool = True
) -> PlaybookOutcome:
    started = time.monotonic()
    playbook = _PLAYBOOKS / name
    done = site.play(playbook, variables, *words, check=check, timeout_seconds=_SECONDS)
    print(f"{name} {' '.join(words)}: {time.monotonic() - started:.0f} s")
    return done


def _is_in_force(site: Site) -> None:
    """The guest runs, placed; packets go by virtio; YARN has its node."""
    oss1, vm1 = site.hosts["oss1"], site.hosts["vm1"]
    assert oss1.run("virsh", "list", "--name").stdout.split() == ["vm1"]
    assert "dev vasbr0" in oss1.run("ip", "route", "get", "10.213.0.21").stdout
    assert "dev virtio0" in vm1.run("ip", "route", "get", "10.213.0.11").stdout
    assert oss1.run("vas", "affinity", "verify", "/etc/vas/placement.json").status == 0
    assert running_nodes(site) == ["vm1"]
