"""Finds the interfaces that are the legs of the node that is examined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address

from vas_cluster import Cluster, Guest, Host
from vas_cluster.virtio import VIRTIO_NIC, guest_interface, host_interface
from vas_routing.desired import Address, Interface
from vas_routing.doctor.facts import NetworkFacts, NicFacts
from vas_routing.names import host_of
from vas_routing.settings import RouteSettings


@dataclass(frozen=True)
class Subject:
    """One node of the map and the facts that were read on it. `guest` is None for a host."""

    host: Host
    guest: Guest | None
    facts: NetworkFacts
    settings: RouteSettings

    @property
    def address(self) -> Address:
        """The node's service address."""
        return ip_address((self.guest or self.host).address)

    @property
    def version(self) -> int:
        """The IP version of the data fabric."""
        return self.address.version

    @property
    def hop(self) -> Interface:
        """The node's own address on the virtio leg."""
        if self.guest is None:
            return host_interface(self.version)
        return guest_interface(self.host, self.guest, self.version)

    @property
    def hops(self) -> Mapping[Address, str]:
        """The addresses of the bridge's network, each with the name of the node that has it."""
        mine = {host_interface(self.version).ip: self.host.name}
        for guest in self.host.guests:
            mine[guest_interface(self.host, guest, self.version).ip] = guest.name
        return mine

    @cached_property
    def sriov(self) -> NicFacts | None:
        """The PF of a host, the VF of a guest; a guest's is known by its MAC first."""
        if self.guest is None:
            return self.facts.nics.get(self.host.nics.pf)
        return self._by_mac(self.guest.macs.vf) or self.facts.nics.get(self.host.nics.vf)

    @cached_property
    def virtio(self) -> NicFacts | None:
        """The bridge of a host, the virtio NIC of a guest."""
        if self.guest is None:
            return self.facts.nics.get(self.host.nics.bridge)
        return self._by_mac(self.guest.macs.virtio) or self.facts.nics.get(VIRTIO_NIC)

    @property
    def sriov_name(self) -> str:
        """The name of the SR-IOV leg, also where the interface is missing."""
        nics = self.host.nics
        return self.sriov.name if self.sriov else (nics.vf if self.guest else nics.pf)

    @property
    def virtio_name(self) -> str:
        """The name of the virtio leg, also where the interface is missing."""
        if self.virtio:
            return self.virtio.name
        return VIRTIO_NIC if self.guest else self.host.nics.bridge

    @property
    def legs(self) -> list[NicFacts]:
        """The legs whose interfaces are there."""
        return [leg for leg in (self.sriov, self.virtio) if leg]

    def _by_mac(self, mac: str) -> NicFacts | None:
        return next((nic for nic in self.facts.nics.values() if nic.mac == mac), None)


def subject(cluster: Cluster, node: str, facts: NetworkFacts, settings: RouteSettings) -> Subject:
    """Returns the node of that name. Raises BadInput if the map has none."""
    host = host_of(cluster, node)
    guest = None if host.name == node else cluster.guest(node)
    return Subject(host, guest, facts, settings)
