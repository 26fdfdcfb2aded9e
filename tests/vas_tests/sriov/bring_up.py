"""Makes nodes what the map says, short of VAS's routes: interfaces, their names and addresses."""

from __future__ import annotations

from ipaddress import ip_interface

from vas_cluster import Guest, Host
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_tests.sriov.machines import PF_MAC
from vas_tests.sriov.node import Node

TAP, VIRTIO = "tap0", "virtio0"
VFS = 2
PREFIX_BITS = 24
_LINK_SECONDS = 60.0


def host(node: Node, described: Host) -> str:
    """The storage host, with its first VF free for the guest; returns the VF's PCI address."""
    node.run("ip", "link", "set", "lo", "up")
    node.run("modprobe", "--all", "igb", "vfio-pci", "tun", "bridge", "kvm_amd")
    pf = described.nics.pf
    rename(node, PF_MAC, pf)
    up(node, pf, described.address)
    node.run("ip", "link", "add", described.nics.bridge, "type", "bridge", "forward_delay", "0")
    node.run("ip", "link", "set", described.nics.bridge, "up")
    node.run("ip", "tuntap", "add", TAP, "mode", "tap")
    node.run("ip", "link", "set", TAP, "master", described.nics.bridge, "up")
    return _virtual_function(node, pf, described.guests[0])


def guest(node: Node, described: Host) -> None:
    """The guest; its interfaces are known by the map's MACs."""
    me = described.guests[0]
    node.run("ip", "link", "set", "lo", "up")
    node.run("modprobe", "--all", "igbvf", "virtio_net")
    rename(node, me.macs.vf, described.nics.vf)
    rename(node, me.macs.virtio, VIRTIO)
    node.run("ip", "link", "set", VIRTIO, "up")
    up(node, described.nics.vf, me.address)


def rename(node: Node, mac: str, name: str) -> None:
    """Gives the interface with this MAC its name. Raises VasError if there is none."""
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


def _virtual_function(node: Node, pf: str, me: Guest) -> str:
    adapter = f"/sys/class/net/{pf}/device"
    # No driver of the host's may take a VF first.
    node.write(f"{adapter}/sriov_drivers_autoprobe", "0")
    node.write(f"{adapter}/sriov_numvfs", str(VFS))
    node.run("ip", "link", "set", pf, "vf", "0", "mac", me.macs.vf)
    address = node.target(f"{adapter}/virtfn0")
    node.write(f"/sys/bus/pci/devices/{address}/driver_override", "vfio-pci")
    node.write("/sys/bus/pci/drivers_probe", address)
    return address
