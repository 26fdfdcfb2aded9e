"""Breaks (`up` is false) and mends (`up` is true) a path of the guest vm1 on a RoutedNet."""

from __future__ import annotations

from vas_tests.routes import RoutedNet


def vf_carrier(site: RoutedNet, up: bool) -> None:
    """Sets the switch's port of vm1's VF down or up: the VF loses its carrier."""
    site.ip("_fabric", "link", "set", _fabric_port(site, "vm1"), "up" if up else "down")


def vf_admin(site: RoutedNet, up: bool) -> None:
    """Sets vm1's VF down or up inside the guest."""
    site.ip("vm1", "link", "set", "vf0", "up" if up else "down")


def vf_silent(site: RoutedNet, up: bool, device: str = "vf0") -> None:
    """Takes the port of vm1's NIC out of the switch, or puts it back: the carrier stays."""
    words = ["master", "fabric0"] if up else ["nomaster"]
    site.ip("_fabric", "link", "set", _fabric_port(site, "vm1", device), *words)


def tap_admin(site: RoutedNet, up: bool) -> None:
    """Sets the host's end of vm1's virtio NIC down or up."""
    site.ip("oss1", "link", "set", "vnet0", "up" if up else "down")


def tap_silent(site: RoutedNet, up: bool) -> None:
    """Takes vm1's tap out of its bridge, or puts it back: both ends keep their carrier."""
    words = ["master", "virbr0"] if up else ["nomaster"]
    site.ip("oss1", "link", "set", "vnet0", *words)


def virtio_admin(site: RoutedNet, up: bool) -> None:
    """Sets vm1's virtio NIC down or up inside the guest."""
    site.ip("vm1", "link", "set", "virtio0", "up" if up else "down")


def _fabric_port(site: RoutedNet, guest: str, device: str = "vf0") -> str:
    (vf,) = site.ip_json(guest, "link", "show", device)
    ports = site.ip_json("_fabric", "link", "show", "type", "veth")
    return next(str(port["ifname"]) for port in ports if port["ifindex"] == vf["link_index"])
