"""Decides a node's desired state from the map, the states of paths and measurements (the policy).

Packets to the same host go by virtio, all others by SR-IOV, which is the kernel's own connected
route and needs no change. A path that is down is replaced by the other one. Pure: no kernel, no
clock, no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface, ip_network

from vas_cluster import Cluster, Host
from vas_cluster.virtio import VIRTIO_NIC, guest_interface, host_interface
from vas_core.errors import BadInput
from vas_routing.desired import (
    Address,
    DesiredState,
    Interface,
    Network,
    OwnAddress,
    PolicyRule,
    Proxy,
    Route,
    Sysctl,
)
from vas_routing.links import Leg, NodeLinks, PathState
from vas_routing.names import host_of
from vas_routing.settings import MAIN_TABLE, RouteSettings

# IPv6 has forwarding for all devices or none, and switches off more with it; since Linux 6.17 it
# has this, for one.
_FORWARDING = {4: "forwarding", 6: "force_forwarding"}
LOOPBACK = "lo"
Choices = Mapping[frozenset[str], Leg]
"""The faster leg between two nodes of one host, where it was measured."""


@dataclass(frozen=True)
class Peer:
    """A node on the same host: its service address, and its next hop on the bridge."""

    name: str
    address: Address
    hop: Interface
    is_host: bool


@dataclass(frozen=True)
class NodePlace:
    """A node, the names of its SR-IOV and virtio interfaces, and the other nodes on its host."""

    me: Peer
    peers: tuple[Peer, ...]
    sriov: str
    virtio: str

    @property
    def version(self) -> int:
        """The IP version of the data fabric."""
        return self.me.address.version


def place(cluster: Cluster, node: str, links: NodeLinks) -> NodePlace:
    """Returns a host or guest, by its name, with its interfaces and peers.

    Raises BadInput if the map has no such node, if its address is not in the links' network, or if
    peers of the links are not on its host.
    """
    host = host_of(cluster, node)
    everyone = {peer.name: peer for peer in _peers(host)}
    is_host = host.name == node
    me = everyone.pop(node)
    if strangers := sorted({*links.virtio, *links.peers_sriov} - everyone.keys()):
        hint = f"on {node}'s host: {', '.join(everyone)}"
        raise BadInput(f"{strangers[0]} is not on the same host", where="links", hint=hint)
    if me.address not in links.fabric:
        hint = "take the network from the PF's or VF's address"
        what = f"fabric: {links.fabric} does not hold {node}'s address {me.address}"
        raise BadInput(what, where="links", hint=hint)
    return NodePlace(
        me=me,
        peers=tuple(everyone.values()),
        sriov=links.sriov_device or (host.nics.pf if is_host else host.nics.vf),
        virtio=links.virtio_device or (host.nics.bridge if is_host else VIRTIO_NIC),
    )


def _peers(host: Host) -> Iterator[Peer]:
    address = ip_address(host.address)
    yield Peer(host.name, address, host_interface(address.version), is_host=True)
    for guest in host.guests:
        address = ip_address(guest.address)
        hop = guest_interface(host, guest, address.version)
        yield Peer(guest.name, address, hop, is_host=False)


def desired_state(
    cluster: Cluster, node: str, links: NodeLinks, choices: Choices, settings: RouteSettings
) -> DesiredState | None:
    """Returns the desired state of a node; None if no path is up: then nothing may be changed.

    Raises BadInput for a node that the map does not have, or that does not fit the links.
    """
    here = place(cluster, node, links)
    if links.sriov is PathState.DOWN and not any(links.reaches(peer.name) for peer in here.peers):
        return None
    policy = _Policy(here, links, choices, settings)
    return DesiredState(
        addresses=frozenset(policy.addresses()),
        rules=frozenset(policy.rules()),
        routes=frozenset(policy.routes()),
        proxies=frozenset(policy.proxies()),
        sysctls=frozenset(policy.sysctls()),
    )


@dataclass(frozen=True)
class _Policy:
    here: NodePlace
    links: NodeLinks
    choices: Choices
    settings: RouteSettings

    def addresses(self) -> Iterator[OwnAddress]:
        # An interface that is set down takes its local routes with it, and so the address.
        yield OwnAddress(
            interface=ip_interface(self.here.me.address),
            device=LOOPBACK,
            reason="the node's address stays its own while its SR-IOV leg is set down",
        )
        if self.here.peers and self.here.virtio not in self.links.absent:
            yield OwnAddress(
                interface=self.here.me.hop,
                device=self.here.virtio,
                reason="next hop for the nodes on this host",
            )

    def rules(self) -> Iterator[PolicyRule]:
        yield PolicyRule(
            version=self.here.version,
            priority=self.settings.rule_priority,
            table=self.settings.table,
            reason="VAS's routes go before the kernel's own",
        )

    def routes(self) -> Iterator[Route]:
        for peer in self.here.peers:
            if self.links.reaches(peer.name) and not self._prefers_sriov(peer):
                why = f"{peer.name} is on this host: {self._why_virtio(peer)}"
                yield self._route(_alone(peer.address), peer, self.settings.table, 0, why)
        yield from self._ways_out()

    def _ways_out(self) -> Iterator[Route]:
        host = next((peer for peer in self.here.peers if peer.is_host), None)
        if host is None or not self.links.reaches(host.name):
            return
        fabric = ip_network(str(self.links.fabric))
        metric = self.settings.fallback_metric
        why = "if the VF loses its carrier, the kernel goes by the host at once"
        yield self._route(fabric, host, MAIN_TABLE, metric, why)
        if self.links.sriov is PathState.DOWN:
            why = "the VF is down: all of the fabric by the host"
            yield self._route(fabric, host, self.settings.table, 0, why)

    def proxies(self) -> Iterator[Proxy]:
        for guest in self._carried():
            why = f"the VF of {guest.name} is down: this host takes its packets"
            yield Proxy(address=guest.address, device=self.here.sriov, reason=why)

    def _carried(self) -> list[Peer]:
        """The guests that this host forwards for."""
        if not self.here.me.is_host or self.links.sriov is PathState.DOWN:
            return []
        return [
            peer
            for peer in self.here.peers
            if self.links.reaches(peer.name) and self.links.sriov_of(peer.name) is PathState.DOWN
        ]

    def sysctls(self) -> Iterator[Sysctl]:
        for device in {self.here.sriov, self.here.virtio} - self.links.absent:
            for name, value, reason in self._parameters():
                if name == "arp_ignore" and device == self.here.sriov and self._is_hidden():
                    value, reason = "8", "it is drained: the host answers for it meanwhile"
                path = f"net/ipv{self.here.version}/conf/{device}/{name}"
                yield Sysctl(name=path, value=value, reason=reason)

    def _is_hidden(self) -> bool:
        """Whether this is a guest whose VF works, but is drained."""
        host = next((peer for peer in self.here.peers if peer.is_host), None)
        drained = Leg.SRIOV in self.links.drained
        return drained and host is not None and self.links.reaches(host.name)

    def _parameters(self) -> Iterator[tuple[str, str, str]]:
        """The sysctls of each leg: name, value, reason."""
        if self.here.version == 4:
            why = "replies may come by the other leg while only one side has switched"
            yield "rp_filter", "2", why
            yield "arp_ignore", "1", "each leg answers for its own address alone"
            yield "arp_announce", "2", "each leg asks from its own address alone"
        else:
            yield "keep_addr_on_down", "1", "the address answers by the other leg meanwhile"
        yield "ignore_routes_with_linkdown", "1", "a leg without carrier is not used"
        if self._carried():
            why = "this host forwards for a guest whose VF is down"
            yield _FORWARDING[self.here.version], "1", why
            if self.here.version == 6:
                yield "proxy_ndp", "1", "this host answers for a guest whose VF is down"

    def _prefers_sriov(self, peer: Peer) -> bool:
        measured = self.choices.get(frozenset((self.here.me.name, peer.name)))
        both_up = (
            self.links.sriov is PathState.UP and self.links.sriov_of(peer.name) is PathState.UP
        )
        return measured is Leg.SRIOV and both_up

    def _why_virtio(self, peer: Peer) -> str:
        measured = self.choices.get(frozenset((self.here.me.name, peer.name)))
        if measured is Leg.VIRTIO:
            return "virtio was measured to be faster"
        return "virtio, as SR-IOV is down" if measured is Leg.SRIOV else "virtio"

    def _route(self, to: Network, by: Peer, table: int, metric: int, reason: str) -> Route:
        return Route(
            destination=to,
            gateway=by.hop.ip,
            device=self.here.virtio,
            source=self.here.me.address,
            table=table,
            metric=metric,
            reason=reason,
        )


def _alone(address: Address) -> Network:
    return ip_network(address)
