"""What is found before anything is changed: all of it, each with its fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vas_ansible.checks import Facts, examine_inventory, examine_machine
from vas_cluster import load_cluster

SITE = load_cluster(Path(__file__).parents[2] / "cluster" / "examples" / "four-oss.yaml")
OSS, GUEST = "oss01.hpc.example", "vas01.hpc.example"
GIB = 1 << 30


def host(**changed: Any) -> Facts:
    interfaces = {
        "ens1f0": {"mtu": 9000, "addresses": ["10.10.0.11"], "vfs_total": 8, "vfs": 0},
        **changed.pop("interfaces", {}),
    }
    good = {
        "hostname": "oss01",
        "kernel": "5.14.0-427.13.1.el9_4.x86_64",
        "headers": True,
        "kvm": True,
        "iommu_groups": 40,
        "memory_bytes": 256 * GIB,
        "huge_bytes": 0,
        "cpus": 48,
        "interfaces": interfaces,
        "routes": ["10.10.0.0/24"],
        "names": {},
        "synchronised": True,
        "lustre": None,
        "ofed": None,
    }
    return Facts.model_validate(good | changed)


def checks(facts: Facts, node: str = OSS, **settings: object) -> list[str]:
    return [finding.check for finding in examine_machine(SITE, node, facts, settings)]


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
        ({"cpus": 16}, "cpus"),
        ({"routes": ["169.254.0.0/16"]}, "subnet"),
        ({"names": {"vas02.hpc.example": ["10.9.9.9"]}}, "dns"),
        ({"interfaces": {"vasbr0": {"mtu": 1500}}}, "mtu"),
        ({"interfaces": {"ens1f0": {"mtu": 9000, "addresses": ["10.10.0.11"]}}}, "vfs"),
        ({"interfaces": {"ens1f0": {"mtu": 9000, "vfs_total": 8}}}, "pf"),
    ],
)
def test_each_thing_that_is_wrong_is_found(changed: dict[str, Any], wrong: str) -> None:
    assert checks(host(**changed)) == [wrong]


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


def test_a_bridge_in_place_of_virtual_functions_has_to_be_there() -> None:
    settings = {"vas_guest_settings": {"virtual_function": False, "fabric_bridge": "fabric0"}}
    assert checks(host(), **settings) == ["fabric_bridge"]
    assert checks(host(interfaces={"fabric0": {"mtu": 9000}}), **settings) == []


def guest(**changed: Any) -> Facts:
    legs = {"ens1f0v0": {"mtu": 9000, "addresses": ["10.10.0.111"]}, "virtio0": {"mtu": 9000}}
    good = {"hostname": "vas01", "memory_bytes": 62 * GIB, "interfaces": legs}
    return host().model_copy(
        update=Facts.model_validate(host().model_dump() | good).__dict__ | changed
    )


def test_lustre_has_to_fit_the_kernel_and_its_headers_be_there() -> None:
    assert checks(guest(), GUEST, vas_lustre_client_version="2.16.0") == []
    newer = guest(kernel="5.14.0-503.40.1.el9_5.x86_64", headers=False)
    wrong = checks(
        newer, GUEST, vas_lustre_client_version="2.16.0", vas_lustre_client_modules="dkms"
    )
    assert wrong == ["lustre", "headers"]
    assert checks(newer, GUEST, vas_lustre_client_version="2.17.0") == []


def test_a_lustre_that_is_to_be_installed_has_a_version_to_judge_it_by() -> None:
    variables: dict[str, object] = {
        "vas_lustre_client_repository": {"url": "https://x", "key": "y"}
    }
    known = ["vas_lustre_client_repository", "vas_lustre_client_version"]

    def found() -> list[str]:
        return [f.check for f in examine_inventory(SITE, {GUEST: variables}, known, {})]

    assert found() == ["vas_lustre_client_version"]
    variables["vas_lustre_client_version"] = "2.16.1"
    assert found() == []


def test_a_guest_has_its_legs_and_its_memory() -> None:
    assert checks(guest(memory_bytes=32 * GIB), GUEST) == ["memory"]
    assert checks(guest(interfaces={}), GUEST) == ["vf"]


KNOWN = ["vas_hadoop_reserved", "vas_hadoop_kerberos_realm", "vas_route_switcher_state"]


def test_unknown_and_removed_variables_are_named() -> None:
    variables = {"vas_hadoop_reservd": "2GiB", "vas_old": 1, "vas_cluster": {}, "other": 1}
    by_node = {"vas01.hpc.example": variables, "vas02.hpc.example": variables}
    found = examine_inventory(SITE, by_node, KNOWN, {"vas_old": "use vas_new"})
    assert [(finding.check, finding.fix) for finding in found] == [
        ("vas_hadoop_reservd", "did you mean vas_hadoop_reserved?"),
        ("vas_old", "use vas_new"),
    ]


def test_what_two_variables_demand_of_each_other() -> None:
    by_node = {GUEST: {"vas_hadoop_reserved": "64GiB", "vas_hadoop_kerberos_realm": "X"}}
    found = examine_inventory(SITE, by_node, KNOWN, {})
    assert [finding.check for finding in found] == [
        "vas_hadoop_reserved",
        "vas_hadoop_kerberos_keytabs",
        "vas_hadoop_container_executor",
    ]


@pytest.mark.parametrize(("made", "taken", "agree"), [(True, False, False), (False, False, True)])
def test_server_and_guests_agree_on_virtual_functions(made: bool, taken: bool, agree: bool) -> None:
    variables = {
        "vas_storage_host_virtual_functions": made,
        "vas_guest_settings": {"virtual_function": taken},
    }
    found = examine_inventory(SITE, {OSS: variables}, list(variables), {})
    assert [finding.check for finding in found] == (
        [] if agree else ["vas_storage_host_virtual_functions"]
    )
