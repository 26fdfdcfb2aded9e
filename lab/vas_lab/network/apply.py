"""Makes the planned network by `ip -batch`: once for all cables and once for each node."""

from __future__ import annotations

import os
from collections.abc import Iterator

from vas_core.process import run
from vas_lab.network.topology import LabTopology, Link, PlannedBridge, PlannedNic


def build_network(topology: LabTopology) -> None:
    """Makes the nodes as named network namespaces (`ip netns`), with all interfaces up.

    The caller's own network namespace becomes the master node. Raises VasError if `ip` fails.
    """
    run(["ip", "netns", "attach", topology.master, str(os.getpid())])
    run(["ip", "-batch", "-"], stdin="\n".join(creation(topology)))
    for node in topology.nodes:
        run(["ip", "-n", node, "-batch", "-"], stdin="\n".join(configuration(topology, node)))


def creation(topology: LabTopology) -> Iterator[str]:
    """Yields the `ip` commands that make the namespaces (except the master's) and cables."""
    for node in topology.nodes:
        if node != topology.master:
            yield f"netns add {node}"
    for link in topology.links:
        yield _veth(link)


def configuration(topology: LabTopology, node: str) -> Iterator[str]:
    """Yields the `ip` commands of one node: loopback, switches, its ends of the cables."""
    yield "link set lo up"
    for bridge in topology.bridges:
        if bridge.node == node:
            yield from _bridge(bridge)
    for link in topology.links:
        for nic in (link.a, link.b):
            if nic.node == node:
                yield from _nic(nic)


def _veth(link: Link) -> str:
    a, b = (f"name {nic.name} netns {nic.node}{_mac(nic)}" for nic in (link.a, link.b))
    return f"link add {a} type veth peer {b}"


def _mac(nic: PlannedNic) -> str:
    return f" address {nic.mac}" if nic.mac else ""


def _bridge(bridge: PlannedBridge) -> Iterator[str]:
    # No forwarding delay: a port that learns for 15 s would hold up the first packets.
    yield f"link add {bridge.name} type bridge forward_delay 0"
    yield f"link set {bridge.name} up"


def _nic(nic: PlannedNic) -> Iterator[str]:
    if nic.bridge:
        yield f"link set {nic.name} master {nic.bridge}"
    if nic.address:
        nodad = " nodad" if ":" in nic.address else ""
        yield f"addr add {nic.address} dev {nic.name}{nodad}"
    yield f"link set {nic.name} up"
