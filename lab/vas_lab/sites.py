"""Makes the map of a lab without one: N equal storage servers, paired for failover."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from vas_core.errors import BadInput
from vas_core.sizes import format_size
from vas_yarn.small_cluster import AM_MIB, MAX_HOSTS, TASK_MIB

# Measured resident sizes: the ResourceManager and the JobHistoryServer; one NodeManager.
_MASTER_BYTES = 600 << 20
_NODE_BYTES = 280 << 20
# Of HDFS: the NameNode; one DataNode.
_NAMES_BYTES = 250 << 20
_BLOCKS_BYTES = 210 << 20
# Room for two tasks beside an AM: where it runs, a host has no fewer places for maps.
_GUEST_MIB = 2 * TASK_MIB + AM_MIB
_GUEST_BYTES = _GUEST_MIB << 20


def lab_site(hosts: int) -> dict[str, Any]:
    """Makes the map of `hosts` storage servers with a guest and an OST each.

    Raises BadInput unless there are 1 to 64.
    """
    if not 1 <= hosts <= MAX_HOSTS:
        raise BadInput(f"{hosts} hosts", where="--hosts", hint=f"give 1 to {MAX_HOSTS}")
    return {
        "site": "laptop-lab",
        "lustre": {"fsname": "lab", "mount": "/run/lustre", "mgs_nids": ["10.77.0.1@tcp"]},
        "hosts": [_host(number, hosts) for number in range(1, hosts + 1)],
        "yarn": {
            "resourcemanager": {"name": "rm", "address": "10.77.0.2"},
            "queues": [{"name": "default", "capacity": 100}],
        },
    }


def lab_site_yaml(hosts: int) -> str:
    """Returns the map of `hosts` equal storage servers as YAML text.

    Raises BadInput unless there are 1 to 64.
    """
    return yaml.safe_dump(lab_site(hosts), sort_keys=False)


def compute_site(hosts: int) -> dict[str, Any]:
    """Makes the map of `hosts` storage servers without guests, and as many hosts without OSTs.

    Each of these has the guest of a compute node. Raises BadInput unless there are 1 to 32.
    """
    if hosts > MAX_HOSTS // 2:
        raise BadInput(f"{hosts} hosts", where="hosts", hint=f"give 1 to {MAX_HOSTS // 2}")
    site = lab_site(2 * hosts)
    for server, client in zip(site["hosts"][:hosts], site["hosts"][hosts:], strict=True):
        server["guests"], client["osts"] = [], []
    return site


def net_site() -> dict[str, Any]:
    """Makes the map of a small network: three hosts, two guests on the first, one on others."""
    site = lab_site(3)
    site["hosts"][0]["guests"].append(_guest(4, 3))
    return site


def memory_needed(guests: int, *, hdfs: bool = False) -> int:
    """Returns the bytes that a lab with `guests` guests may use when all are busy."""
    once, each = _memory(hdfs)
    return once + guests * each


def check_memory(guests: int, available_bytes: int, *, hdfs: bool = False) -> None:
    """Raises BadInput if a lab with `guests` guests may need more than `available_bytes`."""
    needed = memory_needed(guests, hdfs=hdfs)
    if needed > available_bytes:
        once, each = _memory(hdfs)
        fitting = max(0, (available_bytes - once) // each)
        raise BadInput(
            f"{guests} guests may use {format_size(needed)}, "
            f"and {format_size(available_bytes)} are available",
            where="memory",
            hint=f"give --hosts {fitting}" if fitting else "free some memory",
        )


def check_mount(mount: Path) -> None:
    """Raises BadInput for a mount point that a lab cannot use.

    One under /run is made; elsewhere it must exist, because a lab changes nothing outside itself.
    """
    if not mount.is_relative_to("/run") and not mount.is_dir():
        raise BadInput(
            "no such directory, and a lab makes none outside of /run",
            where=f"lustre.mount: {mount}",
            hint="make it, or use a map whose mount point is below /run",
        )


def _memory(hdfs: bool) -> tuple[int, int]:
    """Of a lab's daemons that there is one of, and of all that there is in each guest."""
    once, each = _MASTER_BYTES, _NODE_BYTES + _GUEST_BYTES
    return (once + _NAMES_BYTES, each + _BLOCKS_BYTES) if hdfs else (once, each)


def _host(number: int, hosts: int) -> dict[str, Any]:
    partner = number + 1 if number % 2 else number - 1
    host: dict[str, Any] = {
        "name": f"oss{number}",
        "address": f"10.77.0.{10 + number}",
        "nids": [f"10.77.0.{10 + number}@tcp"],
        "osts": [number - 1],
    }
    if partner <= hosts:
        host["ha_partner"] = f"oss{partner}"
    host["nics"] = {"pf": "pf0", "vf": "vf0", "bridge": "virbr0"}
    return host | {"guests": [_guest(number, hosts)]}


def _guest(number: int, hosts: int) -> dict[str, Any]:
    return {
        "name": f"vm{number}",
        "address": f"10.77.0.{(20 if hosts < 10 else 100) + number}",
        "macs": {
            "vf": f"52:54:00:77:{number:02x}:01",
            "virtio": f"52:54:00:77:{number:02x}:02",
        },
        "memory": f"{_GUEST_MIB}MiB",
        "vcpus": 2,
    }
