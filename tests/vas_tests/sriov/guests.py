"""Guests of the rig's storage host beyond the one that the rig boots: libvirt starts one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from vas_cluster import Cluster, parse_cluster
from vas_tests import libvirt
from vas_tests.sriov.bring_up import VAS, VAS_SECONDS
from vas_tests.sriov.node import Node

SITE = Path(__file__).with_name("site.yaml")
NAME = "vm2"
"""The guest that libvirt starts; its kernel writes a word to the console and halts."""
# On the storage host.
MAP, _SETTINGS = "/run/two-guests.yaml", "/run/guest.yaml"
_DISK = "/dev/ram{}"  # a device: `cache=none` wants O_DIRECT, which a tmpfs of Linux 6.1 has not
# What udev makes elsewhere: virsh reads a definition from its standard input.
_DAEMONS = """
ln -s /proc/self/fd/0 /dev/stdin
mkdir -p /dev/pts /var/log/libvirt
mount -t devpts devpts /dev/pts
virtlogd -d
libvirtd -d
"""


def site_with(guests: int) -> str:
    """Returns the text of the rig's map, with this number of guests on its first host."""
    value: dict[str, Any] = yaml.safe_load(SITE.read_text())
    described = value["hosts"][0]["guests"]
    described += [small(number, "10.77.0", number - 2) for number in range(2, guests + 1)]
    return yaml.safe_dump(value)


def small(number: int, network: str, disk: int) -> dict[str, Any]:
    """Returns a small guest for the map; its disk is in the host's memory."""
    mac = f"52:54:00:77:{number:02}"
    return {
        "name": f"vm{number}",
        "address": f"{network}.{20 + number}",
        "macs": {"vf": f"{mac}:01", "virtio": f"{mac}:02"},
        "memory": "128MiB",
        "vcpus": 1,
        "disks": [{"path": _DISK.format(disk), "size": "16MiB"}],
    }


def two() -> Cluster:
    """Returns the rig's map with a second guest, which libvirt starts."""
    return parse_cluster(site_with(2), Path(MAP))


def start_libvirt(node: Node, kernel: Path) -> None:
    """Starts libvirt on the storage host, and writes the settings of its guest there.

    Raises VasError if it does not start.
    """
    node.run("modprobe", "brd", "rd_nr=1", "rd_size=16384")
    node.run("sh", "-euc", libvirt.CONFIGURE + _DAEMONS, timeout_seconds=VAS_SECONDS)
    # Without a memory limit: the machine has no control groups.
    settings = {"kernel": str(kernel), "consoles": "/run", "memory_limit": False}
    node.write(_SETTINGS, yaml.safe_dump(settings))


def vas(node: Node, command: str, *more: str) -> str:
    """Runs `vas guest COMMAND` for the guest on a node and returns what it prints.

    Raises VasError unless its status is 0.
    """
    files = ("--cluster", MAP, "--settings", _SETTINGS)
    return node.run(VAS, "guest", command, NAME, *files, *more, timeout_seconds=VAS_SECONDS)


def virsh(node: Node, *words: str) -> str:
    """Runs virsh on the storage host and returns what it prints.

    Raises VasError unless its status is 0.
    """
    return node.run("virsh", "--quiet", *words, timeout_seconds=VAS_SECONDS)
