"""Lustre's server and client packages on hosts in namespaces, without Lustre's kernel modules.

Its packages are empty ones of the names that Lustre's have, from a signed repository of the test's
own: what is seen is apt's part, the files and the units. No disk is formatted, no target started.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY
from vas_tests.hosts import PlaybookOutcome, Site, site_of_hosts
from vas_tests.hosts.compare import differences, look
from vas_tests.hosts.cycle import cycle, made_true, role_playbook
from vas_tests.hosts.repository import make_repository

_LACKS = [
    p
    for p in ("mmdebstrap", "ssh", "unshare", "nsenter", "gpg", "dpkg-deb")
    if shutil.which(p) is None
]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
_SERVERS = "vas_oss:vas_resourcemanager"
_MODULES = f"lustre-server-modules-{platform.release()}"
_CLIENT_MODULES = f"lustre-client-modules-{platform.release()}"
# The machine that is ResourceManager elsewhere is the MDS here.
_GROUP = "[vas_lab]\noss1\nrm1 vas_lustre_server_mdt=/dev/vdb\n"
Variables = dict[str, object]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site_of_hosts(tmp_path_factory.mktemp("site"), only=("oss1", "rm1")) as made:
        text = made.map.read_text()
        made.map.write_text(text.replace("osts: [0]", "osts: [0]\n    storage_devices: [/dev/vdb]"))
        made.inventories.append(made.directory / "lab.ini")
        made.inventories[0].write_text(_GROUP)
        yield made


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The repository, and its key. It also has a newer `less`, which is not to be had from it."""
    directory = tmp_path_factory.mktemp("repository") / "lustre"
    packages = {"lustre-server-utils": "2.16.1", _MODULES: "2.16.1", "less": "9999"}
    return directory, make_repository(directory, packages)


def test_the_servers_of_lustre(site: Site, repository: tuple[Path, Path]) -> None:
    directory, key = repository
    with site.serving(directory) as url:
        variables = _variables(url, key)
        with made_true(site, "lustre_server", _SERVERS, variables):
            oss1 = site.hosts["oss1"]
            assert _installed(site, "lustre-server-utils") == "2.16.1"
            assert _installed(site, _MODULES) == "2.16.1"
            policy = oss1.run("apt-cache", "policy", "less", "lustre-server-utils").stdout
            assert "9999 50" in policy, "apt sees the newer one, and does not want it"
            assert "2.16.1 990" in policy
            assert "Candidate: 9999" not in policy
            _are_units(site)


def test_the_client_s_modules_are_those_of_the_running_kernel(site: Site, tmp_path: Path) -> None:
    """They count as installed: what all of them provide, lustre-client-modules, never would."""
    packages = {"lustre-client-utils": "2.16.1", _CLIENT_MODULES: "2.16.1"}
    key = make_repository(tmp_path / "client", packages)
    with site.serving(tmp_path) as url:
        repository = {"url": f"{url}/client", "key": str(key)}
        variables: Variables = {"vas_lustre_client_repository": repository}
        variables["vas_lustre_client_started"] = False
        cycle(site, "lustre_client", "vas_resourcemanager", variables)


def test_a_machine_that_is_of_no_lab_is_refused(site: Site) -> None:
    before = look(site.hosts["oss1"])
    site.inventories[0].write_text("[vas_lab]\n")
    try:
        playbook = role_playbook(site, "lustre_server", "vas_oss")
        for state in ("present", "absent"):
            refused = site.play(playbook, {"vas_lustre_server_state": state}, check=False)
            assert "oss1 is not in the group vas_lab" in _said(refused)
            assert refused.changes() == 0
    finally:
        site.inventories[0].write_text(_GROUP)
    assert differences(before, look(site.hosts["oss1"])) == ""


def test_a_repository_that_another_key_signed_gives_nothing(
    site: Site, repository: tuple[Path, Path], tmp_path: Path
) -> None:
    directory, _ = repository
    other = make_repository(tmp_path / "other", {})
    before = look(site.hosts["oss1"])
    # Another URL: of one that it knew, apt goes on with the lists that it has.
    with site.serving(directory.parent) as url:
        playbook = role_playbook(site, "lustre_server", "vas_oss")
        failed = site.play(playbook, _variables(f"{url}/{directory.name}", other), check=False)
        assert "is not signed" in _said(failed)
        assert _installed(site, "lustre-server-utils") == ""
        site.play(playbook, {"vas_lustre_server_state": "absent"})
    assert differences(before, look(site.hosts["oss1"])) == ""


def test_a_kernel_without_lustre_is_said_before_a_disk_is_looked_at(site: Site) -> None:
    playbook = role_playbook(site, "lustre_server", "vas_oss")
    failed = site.play(playbook, {}, check=False)
    assert f"The running kernel {platform.release()} has no Lustre modules" in _said(failed)
    assert "wipefs" not in failed.text
    site.play(playbook, {"vas_lustre_server_state": "absent"})


def test_all_machines_of_a_lab_are_served_before_the_site_s_plays(site: Site) -> None:
    listed = site.play(REPOSITORY / "ansible/lab.yml", {}, "--list-hosts").text
    plays = [part.split("\n\n")[0] for part in listed.split("play #")[1:]]
    refusal, metadata, objects, site_s = plays[:4]
    assert "Refuse a site" in refusal
    assert metadata.split()[-1] == "rm1"
    assert objects.split()[-1] == "oss1"
    assert "Check the inventory" in site_s


def _variables(url: str, key: Path) -> Variables:
    repository = {"name": "lustre", "url": url, "key": str(key)}
    return {
        "vas_lustre_server_repositories": [repository],
        "vas_lustre_server_started": False,
    }


def _said(played: PlaybookOutcome) -> str:
    """Its output, wherever Ansible folded a line."""
    return " ".join((played.text + played.errors).split())


def _installed(site: Site, package: str) -> str:
    """Its version on the storage server; empty if it is not there."""
    argv = ("dpkg-query", "--show", "--showformat", "${Version}", package)
    return site.hosts["oss1"].run(*argv, check=False).stdout


def _are_units(site: Site) -> None:
    """systemd takes them, and will start them at a boot; the MDT's machine is the map's MGS."""
    for name, unit in {
        "oss1": "srv-lustre-OST0000.mount",
        "rm1": "srv-lustre-MDT0000.mount",
    }.items():
        host = site.hosts[name]
        assert host.run("systemctl", "is-enabled", unit).stdout.strip() == "enabled"
        shown = host.run("systemctl", "show", "--property=What,Where,Type,LoadState", unit).stdout
        where = f"/{unit.removesuffix('.mount').replace('-', '/')}"
        said = {f"Where={where}", "What=/dev/vdb", "Type=lustre", "LoadState=loaded"}
        assert said <= set(shown.split())
        host.run("systemd-analyze", "verify", f"/etc/systemd/system/{unit}")
        networks = host.run("cat", "/etc/modprobe.d/90-vas-lnet.conf").stdout
        assert networks == f'options lnet networks="tcp({"pf0" if name == "oss1" else "eth0"})"\n'
