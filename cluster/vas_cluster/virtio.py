"""Derives the addresses on a host-only virtio bridge from a site's map.

They are the same on every host, as no packet leaves the bridge. The host has the first address of
the network, its guests follow in the map's order. Services keep their addresses on the data fabric;
a bridge address is only the next hop of a route.
"""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv6Interface, ip_interface

from vas_cluster.model import Guest, Host

VIRTIO_NIC = "virtio0"
"""The name that every guest gives its interface on the host-only bridge."""

_FIRST = {4: "169.254.213.1/24", 6: "fe80::213:1/64"}
MOST_GUESTS = 253
Interface = IPv4Interface | IPv6Interface


def host_interface(version: int = 4) -> Interface:
    """Returns the host's address on its bridge with the network's prefix; `version` is 4 or 6."""
    return ip_interface(_FIRST[version])


def guest_interface(host: Host, guest: Guest, version: int = 4) -> Interface:
    """Returns a guest's address on its host's bridge, with the network's prefix.

    Raises ValueError if the guest is not on the host.
    """
    first = host_interface(version)
    return ip_interface(f"{first.ip + 1 + host.guests.index(guest)}/{first.network.prefixlen}")
