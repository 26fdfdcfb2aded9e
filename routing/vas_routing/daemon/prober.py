"""Asks the other nodes by both legs, answers them, and tells the detector who was heard."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address

from vas_cluster import Cluster
from vas_routing.daemon.detector import Detector
from vas_routing.daemon.wire import LegSocket, Probe
from vas_routing.links import Leg, State
from vas_routing.observe import Legs
from vas_routing.policy import Place
from vas_routing.wish import Address


@dataclass
class Prober:
    """One node's probes. `asked` is who is asked by each leg, `names` who may answer or ask.

    `own_sriov` is what is told of the node's own SR-IOV leg; `rtt` is given each answer's time.
    """

    here: Place
    port: int
    detector: Detector
    asked: Mapping[Leg, Mapping[str, Address]]
    names: Mapping[Leg, Mapping[str, str]]
    own_sriov: Callable[[], State]
    rtt: Callable[[Leg, str, float], None]
    sockets: dict[Leg, LegSocket] = field(default_factory=dict)

    def open(self, legs: Legs) -> None:
        """Opens the sockets of the legs that are there; again, of one whose interface is new."""
        found = {Leg.SRIOV: legs.sriov, Leg.VIRTIO: legs.virtio}
        addresses = {Leg.SRIOV: self.here.me.address, Leg.VIRTIO: self.here.me.hop.ip}
        for leg, device in found.items():
            old = self.sockets.get(leg)
            if old and device and old.index == device.index:
                continue
            if old:
                self.sockets.pop(leg).close()
            if device:
                with suppress(OSError):  # it went away just now; the kernel will tell
                    self.sockets[leg] = LegSocket(device.name, addresses[leg], self.port)

    def close(self) -> None:
        """Ends all sockets."""
        for one in self.sockets.values():
            one.close()

    def ask(self, now: float) -> None:
        """Sends one probe to each node by each leg."""
        for leg, leg_socket in self.sockets.items():
            # Asking by it would tell the others' caches that the address is there.
            if leg in self.detector.drained:
                continue
            for name, address in self.asked[leg].items():
                leg_socket.send(self._message(name, now, is_answer=False), address)

    def receive(self, leg: Leg, now: float) -> None:
        """Takes what has arrived by a leg."""
        for source, probe in self.sockets[leg].received():
            name = self.names[leg].get(source)
            if name is None:
                continue
            if name in self.detector.peers:
                self.detector.told(name, sriov=probe.sriov, virtio=probe.virtio, now=now)
            if probe.is_answer:
                self.detector.answered(leg, name, now)
                self.rtt(leg, name, max(0, time.monotonic_ns() - probe.sent_ns) / 1e9)
            else:
                answer = self._message(name, now, is_answer=True, sent_ns=probe.sent_ns)
                self.sockets[leg].send(answer, _parsed(source))

    def _message(
        self, to: str, now: float, *, is_answer: bool, sent_ns: int | None = None
    ) -> Probe:
        peer = to in self.detector.peers
        virtio = self.detector.evidence(to, now) if peer else State.UP
        sent = time.monotonic_ns() if sent_ns is None else sent_ns
        return Probe(is_answer, self.own_sriov(), virtio, sent)


@cache
def _parsed(source: str) -> Address:
    """The address of a node of the map: some hundreds a second ask, and always the same."""
    return ip_address(source)


def who_is_asked(cluster: Cluster, here: Place, neighbours: int) -> dict[Leg, dict[str, Address]]:
    """By virtio the nodes on the same host; by SR-IOV these too, and the next hosts of the map."""
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


def who_may_ask(cluster: Cluster, here: Place) -> dict[Leg, dict[str, str]]:
    """Address -> name: by virtio the nodes on the same host, by SR-IOV all of the map."""
    nodes = [(host.address, host.name) for host in cluster.hosts]
    nodes += [(guest.address, guest.name) for guest in cluster.guests()]
    return {
        Leg.VIRTIO: {str(peer.hop.ip): peer.name for peer in here.peers},
        Leg.SRIOV: {str(ip_address(address)): name for address, name in nodes},
    }
