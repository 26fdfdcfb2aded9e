"""Holds the paper's Table 4.1: the speed from a guest to other nodes, by each leg."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from vas_cluster import Cluster, Host
from vas_routing.links import Leg


class NodeRelation(StrEnum):
    """The relation of a guest to the node that its packets go to."""

    OWN_HOST = "own host"
    OTHER_HOST = "other host"
    OTHER_VM = "other host's VM"


# The VAS dissertation, Table 4.1: iperf, 10 Gbit/s Ethernet, ConnectX-2, in Gbit/s.
TABLE_4_1_GBPS: Mapping[tuple[NodeRelation, Leg], float] = {
    (NodeRelation.OWN_HOST, Leg.VIRTIO): 15.2,
    (NodeRelation.OWN_HOST, Leg.SRIOV): 7.1,
    (NodeRelation.OTHER_HOST, Leg.VIRTIO): 4.3,
    (NodeRelation.OTHER_HOST, Leg.SRIOV): 6.1,
    (NodeRelation.OTHER_VM, Leg.VIRTIO): 7.2,
    (NodeRelation.OTHER_VM, Leg.SRIOV): 9.2,
}


def relation_of(cluster: Cluster, a: str, b: str) -> NodeRelation | None:
    """Returns the relation of two nodes, whichever sends; None if the table has no such case.

    Two guests of one host count as a guest and its own host: their packets go the same ways, and
    the table, with one guest per host, does not have them.
    """
    home_a, home_b = _home(cluster, a), _home(cluster, b)
    hosts = [name for name in (a, b) if cluster.host(name)]
    if home_a is None or home_b is None or len(hosts) == 2:
        return None
    if home_a is home_b:
        return NodeRelation.OWN_HOST
    return NodeRelation.OTHER_HOST if hosts else NodeRelation.OTHER_VM


def _home(cluster: Cluster, node: str) -> Host | None:
    return cluster.host(node) or cluster.host_by_guest(node)
