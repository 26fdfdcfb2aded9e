"""Machines of the example site that the checks find nothing wrong with, and variations of them."""

from __future__ import annotations

from typing import Any

from vas_ansible.checks import MachineFacts, examine_machine
from vas_cluster import load_cluster
from vas_cluster.model import Client
from vas_core.repository import REPOSITORY
from vas_routing.settings import RouteSettings

EXAMPLE = REPOSITORY / "cluster/examples/four-oss.yaml"
SITE = load_cluster(EXAMPLE)
OSS, GUEST = "oss01.hpc.example", "vas01.hpc.example"
MANAGER = "yarn-rm.hpc.example"
LOGIN = "login1.hpc.example"
_YARN = SITE.yarn.model_copy(update={"clients": [Client(name=LOGIN, address="192.0.2.21")]})
WITH_LOGIN = SITE.model_copy(update={"yarn": _YARN})
GIB = 1 << 30
NEEDED = ["900-1000/tcp", f"{RouteSettings().probe_port}/udp"]


def host(**changed: Any) -> MachineFacts:
    interfaces = {
        "ens1f0": {"mtu": 9000, "addresses": ["192.0.2.11"], "vfs_total": 8, "vfs": 0},
        **changed.pop("interfaces", {}),
    }
    good = {
        "hostname": "oss01",
        "kernel": "5.14.0-427.13.1.el9_4.x86_64",
        "headers": True,
        "kvm": True,
        "iommu_groups": 40,
        "memory_bytes": 256 * GIB,
        "available_bytes": 250 * GIB,
        "huge_bytes": 0,
        "cpus": 48,
        "interfaces": interfaces,
        "routes": ["192.0.2.0/24"],
        "names": {},
        "synchronised": True,
        "clock": 0.0,
        "link_protection": {"fs.protected_hardlinks": 1, "fs.protected_symlinks": 1},
        "lustre": None,
        "ofed": None,
    }
    return MachineFacts.model_validate(good | changed)


def guest(**changed: Any) -> MachineFacts:
    legs = {"ens1f0v0": {"mtu": 9000, "addresses": ["192.0.2.111"]}, "virtio0": {"mtu": 9000}}
    good = {"hostname": "vas01", "memory_bytes": 62 * GIB, "interfaces": legs}
    return host().model_copy(
        update=MachineFacts.model_validate(host().model_dump() | good).__dict__ | changed
    )


def manager(**changed: Any) -> MachineFacts:
    eth0 = {"mtu": 1500, "addresses": ["192.0.2.5"]}
    return host(**{"hostname": "yarn-rm", "interfaces": {"eth0": eth0}, **changed})


def login(**changed: Any) -> MachineFacts:
    """The login node LOGIN of the site WITH_LOGIN, whose name server knows the guests' names."""
    names = {one.name: [one.address] for one in WITH_LOGIN.guests()}
    names[MANAGER] = [WITH_LOGIN.resourcemanager_address]
    eth0 = {"mtu": 1500, "addresses": ["192.0.2.21"]}
    good = {"hostname": "login1", "interfaces": {"eth0": eth0}, "names": names}
    return MachineFacts.model_validate(host().model_dump() | good | changed)


def checks(facts: MachineFacts, node: str = OSS, **settings: object) -> list[str]:
    found = examine_machine(SITE, node, facts, settings)
    return [finding.check for finding in found if not finding.warns]


def chain(hook: str, *let_in: str, name: str = "inet filter x") -> dict[str, Any]:
    return {"name": name, "hook": hook, "open": list(let_in)}
