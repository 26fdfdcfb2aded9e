"""A model of the wires: which way a packet takes through nodes in their desired states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_network

from site_map import FABRIC, site

from vas_cluster import Cluster
from vas_routing.desired import Address, DesiredState, Route
from vas_routing.links import Leg, NodeLinks, PathState
from vas_routing.policy import desired_state, place
from vas_routing.settings import MAIN_TABLE, RouteSettings

NODES = {
    "oss1": "oss1",
    "vm1": "oss1",
    "vm4": "oss1",
    "oss2": "oss2",
    "vm2": "oss2",
    "oss3": "oss3",
    "vm3": "oss3",
}
GUESTS = tuple(node for node in NODES if node.startswith("vm"))
Way = list[tuple[str, Leg]]


@cache
def the_site(version: int) -> Cluster:
    """The same map for all worlds of an IP version."""
    return site(version)


@dataclass(frozen=True)
class World:
    """Which legs really work. Every node knows that of all nodes on its host.

    `silent`: a leg that is dead keeps its carrier, so that the kernel goes on using it.
    """

    sriov: Mapping[str, bool]
    virtio: Mapping[str, bool]
    version: int = 4
    silent: bool = False
    choices: Mapping[frozenset[str], Leg] = field(default_factory=dict)

    def links(self, node: str) -> NodeLinks:
        """What a node knows."""
        peers = [peer for peer, host in NODES.items() if host == NODES[node] and peer != node]
        return NodeLinks.model_validate(
            {
                "sriov": _state(self.sriov[node]),
                "virtio": {peer: _state(self.joined(node, peer)) for peer in peers},
                "peers_sriov": {peer: _state(self.sriov[peer]) for peer in peers},
                "fabric": FABRIC[self.version],
            }
        )

    def joined(self, one: str, other: str) -> bool:
        """Whether the bridge carries packets between two nodes; a host is always on its own."""
        ends = (self.virtio[node] for node in (one, other) if node in GUESTS)
        return NODES[one] == NODES[other] and all(ends)

    def desired_state(self, node: str) -> DesiredState:
        """What a node has: of one without any path, nothing."""
        cluster = the_site(self.version)
        return (
            desired_state(cluster, node, self.links(node), self.choices, RouteSettings())
            or DesiredState()
        )

    def address(self, node: str) -> Address:
        """The service address."""
        return place(the_site(self.version), node, self.links(node)).me.address

    def walk(self, source: str, destination: str) -> Way:
        """The nodes that a packet reaches, each by which leg; ends short of a black hole.

        AssertionError if it comes to a node twice.
        """
        way: Way = []
        here, to = source, self.address(destination)
        while here != destination:
            step = self._step(here, to)
            if step is None:
                break
            assert step[0] not in (source, *(node for node, _ in way)), f"a loop: {way} {step}"
            way.append(step)
            here = step[0]
        return way

    def _step(self, here: str, to: Address) -> tuple[str, Leg] | None:
        route = self._route(here, to)
        if route is not None:
            hop = self._owner_of_hop(here, route)
            return (hop, Leg.VIRTIO) if hop and self.joined(here, hop) else None
        if not self.sriov[here]:
            return None
        answers = self._who_answers(to)
        return (answers, Leg.SRIOV) if answers else None

    def _route(self, here: str, to: Address) -> Route | None:
        """As the kernel: our table by the longest prefix, then main, where SR-IOV comes first."""
        mine = [r for r in self.desired_state(here).routes if to in ip_network(str(r.destination))]
        ours = [r for r in mine if r.table != MAIN_TABLE]
        if ours:
            return max(ours, key=lambda route: route.destination.prefixlen)
        fallback = [r for r in mine if r.table == MAIN_TABLE]
        has_carrier = self.sriov[here] or self.silent
        return fallback[0] if fallback and not has_carrier else None

    def _owner_of_hop(self, here: str, route: Route) -> str | None:
        peers = place(the_site(self.version), here, self.links(here)).peers
        return next((peer.name for peer in peers if peer.hop.ip == route.gateway), None)

    def _who_answers(self, to: Address) -> str | None:
        """Who says on the fabric that packets for an address are its own."""
        owner = next(node for node in NODES if self.address(node) == to)
        if self.sriov[owner]:
            return owner
        proxies = (
            node
            for node in NODES
            if self.sriov[node] and any(p.address == to for p in self.desired_state(node).proxies)
        )
        return next(proxies, None)

    def can_reach(self, source: str, destination: str) -> bool:
        """Whether some way exists: bridges, the fabric, and hosts that forward for their guests."""
        if self.joined(source, destination):
            return True
        return self._is_on_fabric(source) and self._is_on_fabric(destination)

    def _is_on_fabric(self, node: str) -> bool:
        host = NODES[node]
        by_host = node in GUESTS and self.virtio[node] and self.sriov[host]
        return self.sriov[node] or by_host


def all_up(**down: bool) -> World:
    """Everything works but for what is named, like `sriov_vm1=False`."""
    sriov, virtio = dict.fromkeys(NODES, True), dict.fromkeys(GUESTS, True)
    for name, up in down.items():
        leg, _, node = name.partition("_")
        (sriov if leg == "sriov" else virtio)[node] = up
    return World(sriov, virtio)


def _state(up: bool) -> PathState:
    return PathState.UP if up else PathState.DOWN
