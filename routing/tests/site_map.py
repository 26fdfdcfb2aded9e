"""A small site for routing: three hosts, the first with two guests."""

from __future__ import annotations

from typing import Any

from vas_cluster import Cluster

FABRIC = {4: "10.77.0.0/24", 6: "fd00:77::/64"}


def site(version: int = 4) -> Cluster:
    """oss1 with vm1 and vm4, oss2 with vm2, oss3 with vm3."""
    guests = {1: (1, 4), 2: (2,), 3: (3,)}
    return Cluster.model_validate(
        {
            "site": "small",
            "lustre": {"fsname": "lab", "mount": "/lustre", "mgs_nids": ["10.77.0.1@tcp"]},
            "hosts": [_host(n, guests[n], version) for n in guests],
            "yarn": {"resourcemanager": {"name": "rm", "address": _address(2, version)}},
        }
    )


def _host(number: int, guests: tuple[int, ...], version: int) -> dict[str, Any]:
    return {
        "name": f"oss{number}",
        "address": _address(10 + number, version),
        "nids": [f"10.77.0.{10 + number}@tcp"],
        "osts": [number - 1],
        "nics": {"pf": "pf0", "vf": "vf0", "bridge": "br0"},
        "guests": [_guest(guest, version) for guest in guests],
    }


def _guest(number: int, version: int) -> dict[str, Any]:
    return {
        "name": f"vm{number}",
        "address": _address(20 + number, version),
        "macs": {"vf": f"52:54:00:77:0{number}:01", "virtio": f"52:54:00:77:0{number}:02"},
        "memory": "1GiB",
        "vcpus": 1,
    }


def _address(last: int, version: int) -> str:
    return f"10.77.0.{last}" if version == 4 else f"fd00:77::{last}"
