"""Checks of a machine before any change: each finding, all at once, each with its fix."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from machines import GIB, GUEST, MANAGER, OSS, SITE, checks, guest, host, manager

from vas_ansible.checks import examine_machine
from vas_core.repository import REPOSITORY

# Those of the inventory alone.
PURE = ("documents", "identity", "inventory")


def test_a_good_host_has_nothing_wrong() -> None:
    assert checks(host()) == []


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"hostname": "oss02"}, "name"),
        ({"synchronised": False}, "time"),
        ({"kvm": False}, "kvm"),
        ({"iommu_groups": 0}, "iommu"),
        ({"memory_bytes": 80 * GIB}, "memory"),
        ({"available_bytes": 40 * GIB}, "memory"),
        ({"cpus": 16}, "cpus"),
        ({"routes": ["169.254.0.0/16"]}, "subnet"),
        ({"names": {"vas02.hpc.example": ["10.9.9.9"]}}, "dns"),
        ({"interfaces": {"vasbr0": {"mtu": 1500}}}, "mtu"),
        ({"interfaces": {"ens1f0": {"mtu": 9000, "addresses": ["192.0.2.11"]}}}, "vfs"),
        ({"interfaces": {"ens1f0": {"mtu": 9000, "vfs_total": 8}}}, "pf"),
    ],
)
def test_each_thing_that_is_wrong_is_found(changed: dict[str, Any], wrong: str) -> None:
    assert checks(host(**changed)) == [wrong]


def test_every_check_of_machines_can_be_accepted_and_is_on_the_page() -> None:
    sources = (
        f for f in (REPOSITORY / "ansible/vas_ansible/checks").glob("*.py") if f.stem not in PURE
    )
    made = {
        name for f in sources for name in re.findall(r'Finding\(\s*[\w.]+, "(\w+)"', f.read_text())
    }
    specs = (REPOSITORY / "ansible/roles/hostcheck/meta/argument_specs.yml").read_text()
    options = yaml.safe_load(specs)["argument_specs"]["main"]["options"]
    assert set(options["vas_hostcheck_accepted"]["choices"]) == made
    page = (REPOSITORY / "docs/provisioning.md").read_text()
    assert all(f"`{name}`" in page for name in made)


def test_clocks_are_compared_with_the_controller_s() -> None:
    assert checks(host(clock=1000.0), now=1030.0) == []
    (found,) = examine_machine(SITE, OSS, host(clock=1000.0), {"now": 1300.0})
    assert found.what == "the clock is 300 s behind this machine's"


def test_the_machine_of_the_resourcemanager_is_looked_at() -> None:
    assert checks(manager(), MANAGER) == []
    assert checks(manager(listening=[22, 8088]), MANAGER) == ["ports"]
    ours = manager(listening=[8088], units=["vas-resourcemanager.service"])
    assert checks(ours, MANAGER) == []
    assert checks(manager(memory_bytes=2 * GIB), MANAGER) == ["memory"]
    small = {"resourcemanager": "-Xmx512m", "jobhistory": "-Xmx512m"}
    assert checks(manager(memory_bytes=2 * GIB), MANAGER, vas_hadoop_heaps=small) == []
    assert checks(manager(interfaces={}), MANAGER) == ["address"]
    shut = {"zones": {"eth0": {"zone": "public", "target": "default"}}}
    assert checks(manager(firewall=shut), MANAGER) == ["firewall"]
    newer = manager(kernel="5.14.0-503.40.1.el9_5.x86_64")
    assert checks(newer, MANAGER, vas_lustre_client_version="2.16.0") == ["lustre"]


def test_all_are_found_at_once_each_with_its_fix() -> None:
    found = examine_machine(SITE, OSS, host(kvm=False, iommu_groups=0, cpus=2), {})
    assert [finding.check for finding in found] == ["kvm", "iommu", "cpus"]
    assert all(finding.fix and finding.line().startswith(OSS) for finding in found)


def test_what_a_lab_does_without_is_not_asked_for() -> None:
    bare = host(kvm=False, iommu_groups=0, interfaces={"ens1f0": {"mtu": 9000}})
    lab = {
        "vas_guest_settings": {"accelerator": "qemu", "virtual_function": False},
        "vas_storage_host_virtual_functions": False,
    }
    assert checks(bare) == ["pf", "kvm", "iommu", "vfs"]
    assert checks(bare, **lab) == ["pf"]
    assert checks(bare, **lab, vas_hostcheck_accepted=["pf"]) == []


@pytest.mark.parametrize("setting", ["fs.protected_hardlinks", "fs.protected_symlinks"])
@pytest.mark.parametrize("value", [0, None])
def test_a_kernel_that_follows_planted_links_is_named(setting: str, value: int | None) -> None:
    """S4: on a server and on a guest, each setting for itself, with its fix."""
    both = host().link_protection | {setting: value}
    assert checks(guest(link_protection=both), GUEST) == ["links"]
    (found,) = examine_machine(SITE, OSS, host(link_protection=both), {})
    assert found.check == "links" and not found.warns
    assert found.what.startswith(f"{setting} is {'not readable' if value is None else '0'}, ")
    assert found.fix == f"add `{setting} = 1` to /etc/sysctl.d/99-vas-links.conf; sysctl --system"
