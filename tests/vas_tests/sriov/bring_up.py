"""Gives nodes of the rig their interfaces, names and addresses by the map, without VAS's routes.

All functions raise VasError if a program on the node fails.
"""

from __future__ import annotations

import sys
from ipaddress import ip_interface
from pathlib import Path

from vas_cluster import Guest, Host
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_tests.sriov.machines import PF_MAC
from vas_tests.sriov.node import Node

TAP, VIRTIO = "tap0", "virtio0"
VAS = Path(sys.executable).with_name("vas")
VF = 1
"""The number of the first guest's virtual function."""
PREFIX_BITS = 24
_LINK_SECONDS = 60.0
VAS_SECONDS = 400.0


def host(node: Node, described: Host, site: str) -> str:
    """Sets up the storage host, with a VF for each guest of the map `site`, a file on the node.

    Returns the PCI address of the VF for its first guest.
    """
    node.run("ip", "link", "set", "lo", "up")
    node.run("modprobe", "--all", "igb", "vfio-pci", "tun", "bridge", "kvm_amd")
    pf = described.nics.pf
    rename(node, PF_MAC, pf)
    up(node, pf, described.address)
    node.run("ip", "link", "add", described.nics.bridge, "type", "bridge", "forward_delay", "0")
    node.run("ip", "link", "set", described.nics.bridge, "up")
    node.run("ip", "tuntap", "add", TAP, "mode", "tap")
    node.run("ip", "link", "set", TAP, "master", described.nics.bridge, "up")
    command = (VAS, "guest", "vfs", "--interrupt", "--cluster", site)
    node.run(*command, timeout_seconds=VAS_SECONDS)
    return _given_away(node, pf, described.guests[0])


def guest(node: Node, described: Host) -> None:
    """Sets up the first guest of a host; its interfaces are found by the map's MACs."""
    me = described.guests[0]
    node.run("ip", "link", "set", "lo", "up")
    node.run("modprobe", "--all", "igbvf", "virtio_net")
    rename(node, me.macs.vf, described.nics.vf)
    rename(node, me.macs.virtio, VIRTIO)
    node.run("ip", "link", "set", VIRTIO, "up")
    up(node, described.nics.vf, me.address)


def rename(node: Node, mac: str, name: str) -> None:
    """Gives the interface with this MAC a name. Raises VasError if there is none."""
    found = {link.get("address"): link["ifname"] for link in node.json("ip", "-j", "link")}
    if mac not in found:
        raise VasError(f"no interface has the MAC {mac}; there are {found}", where=node.name)
    node.run("ip", "link", "set", found[mac], "name", name)


def up(node: Node, device: str, address: str) -> None:
    """Gives an interface its address on the data fabric, and waits for its carrier."""
    node.run("ip", "addr", "add", str(ip_interface(f"{address}/{PREFIX_BITS}")), "dev", device)
    node.run("ip", "link", "set", device, "up")
    poll(
        lambda: node.json("ip", "-j", "link", "show", device)[0]["operstate"],
        lambda state: state == "UP",
        _LINK_SECONDS,
        f"the carrier of {device} of {node.name}",
    )


def _given_away(node: Node, pf: str, me: Guest) -> str:
    """What libvirt does with a VF of its pool; not its first, which it takes itself."""
    node.run("ip", "link", "set", pf, "vf", str(VF), "mac", me.macs.vf)
    address = node.target(f"/sys/class/net/{pf}/device/virtfn{VF}")
    node.write(f"/sys/bus/pci/devices/{address}/driver_override", "vfio-pci")
    node.write("/sys/bus/pci/drivers_probe", address)
    return address
