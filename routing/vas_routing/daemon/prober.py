"""Sends probes to other nodes by both legs, answers theirs, and tells the detector who answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address

from vas_cluster import Cluster
from vas_routing.daemon.detector import Detector
from vas_routing.daemon.refusals import Refusals
from vas_routing.daemon.sockets import LegSockets
from vas_routing.daemon.trust import HeardProbe, Refusal, Trust
from vas_routing.desired import Address
from vas_routing.links import Leg, PathState
from vas_routing.policy import NodePlace


@dataclass
class Prober:
    """The probes of one node. `asked` has the nodes to ask by each leg, `names` those that may ask.

    `own_sriov` returns the state to report of the node's own SR-IOV leg; `rtt` receives each
    answer's round-trip time in seconds.
    """

    detector: Detector
    asked: Mapping[Leg, Mapping[str, Address]]
    names: Mapping[Leg, Mapping[str, str]]
    trust: Trust
    sockets: LegSockets
    refusals: Refusals
    own_sriov: Callable[[], PathState]
    rtt: Callable[[Leg, str, float], None]

    def ask(self, now: float) -> None:
        """Sends one probe to each node by each leg."""
        for leg in Leg:
            leg_socket = self.sockets.get(leg)
            # Asking by it would tell the others' caches that the address is there.
            if leg_socket is None or leg in self.detector.drained:
                continue
            for name, address in self.asked[leg].items():
                leg_socket.send(self.trust.ask(leg, name, **self._told(name, now)), address)

    def receive(self, leg: Leg, now: float) -> None:
        """Handles the datagrams that have arrived by a leg."""
        leg_socket = self.sockets.get(leg)
        for source, data in leg_socket.received() if leg_socket else ():
            name = self.names[leg].get(source)
            if data is None or name is None:
                reason = Refusal.FAR if data is None else Refusal.STRANGER
                self.refusals.note(reason, leg=leg, of=source)
                continue
            heard = self.trust.verify(leg, name, data)
            refusal = heard.refusal if isinstance(heard, HeardProbe) else heard
            if refusal is not None:
                self.refusals.note(refusal, leg=leg, of=name)
            if isinstance(heard, HeardProbe):
                self._take(leg, name, heard, now)
                self._answer(leg, name, source, heard, now)

    def _take(self, leg: Leg, name: str, heard: HeardProbe, now: float) -> None:
        if not heard.believed:
            return
        probe = heard.probe
        if name in self.detector.peers and self.trust.is_newest(name, probe):
            self.detector.told(name, sriov=probe.sriov, virtio=probe.virtio, now=now)
        if probe.is_answer:
            self.detector.answered(leg, name, now)
            self.rtt(leg, name, self.trust.round_trip(probe))

    def _answer(self, leg: Leg, name: str, source: str, heard: HeardProbe, now: float) -> None:
        leg_socket = self.sockets.get(leg)
        if leg_socket is not None and not heard.probe.is_answer:
            answer = self.trust.answer(leg, name, heard.probe, **self._told(name, now))
            leg_socket.send(answer, _parsed(source))

    def _told(self, to: str, now: float) -> dict[str, PathState]:
        peer = to in self.detector.peers
        virtio = self.detector.evidence(to, now) if peer else PathState.UP
        return {"sriov": self.own_sriov(), "virtio": virtio}


@cache
def _parsed(source: str) -> Address:
    """The address of a node of the map: some hundreds a second ask, and always the same."""
    return ip_address(source)


def who_is_asked(
    cluster: Cluster, here: NodePlace, neighbours: int
) -> dict[Leg, dict[str, Address]]:
    """Returns the addresses to probe by each leg, by the names of their nodes.

    By virtio these are the nodes on the same host; by SR-IOV these too, and the next `neighbours`
    hosts of the map.
    """
    peers = {peer.name: peer.address for peer in here.peers}
    names = [host.name for host in cluster.hosts]
    mine = cluster.host(here.me.name) or cluster.host_by_guest(here.me.name)
    assert mine is not None
    at = names.index(mine.name)
    others = (cluster.hosts[at + 1 :] + cluster.hosts[:at])[:neighbours]
    return {
        Leg.VIRTIO: {peer.name: peer.hop.ip for peer in here.peers},
        Leg.SRIOV: peers | {host.name: ip_address(host.address) for host in others},
    }


def who_may_ask(cluster: Cluster, here: NodePlace) -> dict[Leg, dict[str, str]]:
    """Returns the nodes that may probe by each leg, by their addresses.

    By virtio these are the nodes on the same host, by SR-IOV all of the map.
    """
    nodes = [(host.address, host.name) for host in cluster.hosts]
    nodes += [(guest.address, guest.name) for guest in cluster.guests()]
    return {
        Leg.VIRTIO: {str(peer.hop.ip): peer.name for peer in here.peers},
        Leg.SRIOV: {str(ip_address(address)): name for address, name in nodes},
    }
