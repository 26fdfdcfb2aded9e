"""Shapes links by `tc` to a tenth of the paper's speeds.

Every device of a leg has a class for each kind of peer, and filters that sort packets into them
by source and destination. A packet that passes several devices has to be slowed down by one only:

| from, to | slowed down on |
|---|---|
| a guest, by a leg | the guest's device of that leg |
| any host's own, to a guest by SR-IOV | the host's PF |
| anybody's, to a guest by virtio | the guest's tap, on its host |

So a host's PF does not slow down packets that it forwards for a guest. Packets that a guest gets by
virtio from elsewhere were slowed down by their sender's device too, which is at least as fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from itertools import groupby
from operator import itemgetter

from vas_cluster import Cluster, Host
from vas_cluster.virtio import VIRTIO_NIC
from vas_core.process import run
from vas_lab.network.topology import LabTopology
from vas_routing.calibrate.paper import TABLE_4_1_GBPS, NodeRelation, relation_of
from vas_routing.links import Leg

SCALE = 10
_CLASSES = {kind: number for number, kind in enumerate(NodeRelation, 1)}
_PROTOCOLS = {4: ("ip", "ip", 32), 6: ("ipv6", "ip6", 128)}


def shape_network(cluster: Cluster, topology: LabTopology) -> None:
    """Shapes the links of a network that is built. Raises VasError if `tc` fails."""
    for node, lines in groupby(shaping(cluster, topology), key=itemgetter(0)):
        run(["tc", "-n", node, "-batch", "-"], stdin="\n".join(line for _, line in lines))


def shaping(cluster: Cluster, topology: LabTopology) -> Iterator[tuple[str, str]]:
    """Yields the lines of `tc` batches that shape the links: the node and its line. Pure."""
    yield from shaping_of(cluster, dict(topology.addresses), _taps(topology))


def shaping_of(
    cluster: Cluster, addresses: Mapping[str, str], taps: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yields the lines of `tc` batches for a network that is not a lab's. Pure.

    `addresses`: node -> its address on the data fabric. `taps`: guest -> its host's end of its
    virtio cable.
    """
    for host in cluster.hosts:
        yield from _of_host(cluster, host, addresses, taps)
        for guest in host.guests:
            for device, leg in ((VIRTIO_NIC, Leg.VIRTIO), (host.nics.vf, Leg.SRIOV)):
                pairs = [(guest.name, to) for to in addresses]
                for line in _device(cluster, device, leg, pairs, addresses):
                    yield guest.name, line


def rate_mbps(kind: NodeRelation, leg: Leg) -> int:
    """Returns the speed in Mbit/s to which packets on a leg are limited, by who sends to whom."""
    return round(TABLE_4_1_GBPS[kind, leg] * 1000 / SCALE)


def _taps(topology: LabTopology) -> dict[str, str]:
    """Guest -> its host's end of its virtio cable."""
    return {link.b.node: link.a.name for link in topology.links if link.b.name == VIRTIO_NIC}


def _of_host(
    cluster: Cluster, host: Host, addresses: Mapping[str, str], taps: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    own = [(host.name, to) for to in addresses]
    for line in _device(cluster, host.nics.pf, Leg.SRIOV, own, addresses):
        yield host.name, line
    for guest in host.guests:
        coming = [(sender, guest.name) for sender in addresses]
        for line in _device(cluster, taps[guest.name], Leg.VIRTIO, coming, addresses):
            yield host.name, line


def _device(
    cluster: Cluster,
    device: str,
    leg: Leg,
    pairs: list[tuple[str, str]],
    addresses: Mapping[str, str],
) -> Iterator[str]:
    # No default class: what no filter takes (ARP, what is forwarded) goes at once.
    yield f"qdisc add dev {device} root handle 1: htb"
    for kind, number in _CLASSES.items():
        # A quantum, as the one tc computes from such rates is larger than the kernel allows.
        yield (
            f"class add dev {device} parent 1: classid 1:{number} "
            f"htb rate {rate_mbps(kind, leg)}mbit quantum 60000"
        )
    for source, destination in pairs:
        if source != destination and (kind_ := relation_of(cluster, source, destination)):
            ends = addresses[source], addresses[destination]
            yield _filter(device, *ends, _CLASSES[kind_])


def _filter(device: str, source: str, destination: str, number: int) -> str:
    protocol, word, bits = _PROTOCOLS[ip_address(source).version]
    return (
        f"filter add dev {device} parent 1: protocol {protocol} prio 1 u32 "
        f"match {word} src {source}/{bits} match {word} dst {destination}/{bits} flowid 1:{number}"
    )
