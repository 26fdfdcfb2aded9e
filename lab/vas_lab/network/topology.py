"""Plans a site's network namespaces and their cables. Pure: a plan, no kernel.

Every host's PF and every guest's VF is a port of one switch, the data fabric. A guest and
its host are also joined by the host-only virtio bridge, whose addresses are the route switcher's.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vas_cluster import Cluster, Host
from vas_cluster.virtio import VIRTIO_NIC
from vas_core.errors import BadInput

FABRIC = "_fabric"  # no host can have this name: the map allows no underscore in one
FABRIC_BRIDGE = "fabric0"
_MASTER_NIC = "eth0"


@dataclass(frozen=True, kw_only=True)
class PlannedNic:
    """One end of a link: an interface of a node, in a bridge or with an address of its own."""

    node: str
    name: str
    mac: str | None = None
    address: str | None = None
    bridge: str | None = None


@dataclass(frozen=True)
class Link:
    """A cable between two interfaces."""

    a: PlannedNic
    b: PlannedNic


@dataclass(frozen=True, kw_only=True)
class PlannedBridge:
    """A switch inside a node."""

    node: str
    name: str


@dataclass(frozen=True)
class LabTopology:
    """The nodes (network namespaces), switches and cables of a site.

    `master` is the node of the ResourceManager, which is in `nodes` too. `addresses` are (node,
    address on the data fabric).
    """

    master: str
    nodes: tuple[str, ...]
    bridges: tuple[PlannedBridge, ...]
    links: tuple[Link, ...]
    addresses: tuple[tuple[str, str], ...]

    def hosts_file(self) -> str:
        """Returns every node's /etc/hosts: all names, each with its data-fabric address."""
        lines = ["127.0.0.1 localhost", "::1 localhost"]
        return (
            "\n".join([*lines, *(f"{address} {name}" for name, address in self.addresses)]) + "\n"
        )


def plan_topology(cluster: Cluster) -> LabTopology:
    """Plans the topology of a site. Raises BadInput when its addresses cannot share a network."""
    addresses = tuple(_addresses(cluster))
    prefix = fabric_prefix([address for _, address in addresses])
    bridges = [PlannedBridge(node=FABRIC, name=FABRIC_BRIDGE), *_virtio_bridges(cluster)]
    ends = _fabric_ends(cluster, dict(addresses), prefix)
    links = [Link(end, _port(number)) for number, end in enumerate(ends)]
    links += [link for host in cluster.hosts for link in _virtio_links(host)]
    nodes = (FABRIC, *(name for name, _ in addresses))
    master = cluster.yarn.resourcemanager.name
    return LabTopology(master, nodes, tuple(bridges), tuple(links), addresses)


def fabric_prefix(addresses: Sequence[str]) -> int:
    """Returns the length of the longest prefix that all addresses share, at most 24 (IPv6: 64).

    Raises BadInput if IPv4 and IPv6 are mixed, or if the prefix is shorter than 8.
    """
    parsed = [ipaddress.ip_address(address) for address in addresses]
    if len({address.version for address in parsed}) != 1:
        raise BadInput("IPv4 and IPv6 are mixed", where="addresses", hint="use one of them")
    differing = min(map(int, parsed)) ^ max(map(int, parsed))
    longest = 24 if parsed[0].version == 4 else 64
    prefix = min(longest, parsed[0].max_prefixlen - differing.bit_length())
    if prefix < 8:
        raise BadInput(
            f"{min(addresses)} and {max(addresses)} are in no common network",
            where="addresses",
            hint="a lab has one data fabric: take addresses of one network",
        )
    return prefix


def _addresses(cluster: Cluster) -> Iterator[tuple[str, str]]:
    yield cluster.yarn.resourcemanager.name, cluster.resourcemanager_address
    for host in cluster.hosts:
        pairs = [(host.name, host.address)]
        pairs += [(guest.name, guest.address) for guest in host.guests]
        yield from (pair for pair in pairs if pair[0] != cluster.yarn.resourcemanager.name)


def _fabric_ends(cluster: Cluster, addresses: dict[str, str], prefix: int) -> Iterator[PlannedNic]:
    def nic(node: str, name: str, mac: str | None = None) -> PlannedNic:
        return PlannedNic(node=node, name=name, mac=mac, address=f"{addresses[node]}/{prefix}")

    for host in cluster.hosts:
        yield nic(host.name, host.nics.pf)
        for guest in host.guests:
            yield nic(guest.name, host.nics.vf, guest.macs.vf)
    manager = cluster.yarn.resourcemanager.name
    if not cluster.host(manager) and not cluster.host_by_guest(manager):
        yield nic(manager, _MASTER_NIC)


def _port(number: int) -> PlannedNic:
    return PlannedNic(node=FABRIC, name=f"port{number}", bridge=FABRIC_BRIDGE)


def _virtio_bridges(cluster: Cluster) -> Iterable[PlannedBridge]:
    return (
        PlannedBridge(node=host.name, name=host.nics.bridge)
        for host in cluster.hosts
        if host.guests
    )


def _virtio_links(host: Host) -> Iterator[Link]:
    for number, guest in enumerate(host.guests):
        tap = PlannedNic(node=host.name, name=f"vnet{number}", bridge=host.nics.bridge)
        yield Link(tap, PlannedNic(node=guest.name, name=VIRTIO_NIC, mac=guest.macs.virtio))
