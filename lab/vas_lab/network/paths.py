"""Reads the counters of a guest's two legs in a lab (virtio and SR-IOV)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from vas_cluster import Cluster, Guest, Host
from vas_cluster.virtio import VIRTIO_NIC
from vas_core.root import Root
from vas_routing.counters import parse_counters
from vas_routing.links import Leg


class PathCounters(BaseModel):
    """The counters of one leg of a guest. `carries` names the nodes whose packets it carries."""

    node: str
    leg: Leg
    device: str
    carries: str
    rx_bytes: int
    tx_bytes: int
    rx_packets: int
    tx_packets: int


def read_paths(
    root: Root, cluster: Cluster, processes: Mapping[str, int | str]
) -> list[PathCounters]:
    """Returns the counters of both legs of every guest.

    `processes`: node -> a process in its network, or "self"; a guest without one is left out.
    """
    return [
        row
        for host in cluster.hosts
        for guest in host.guests
        if guest.name in processes
        for row in _of_guest(root, host, guest, processes[guest.name])
    ]


def _of_guest(root: Root, host: Host, guest: Guest, process: int | str) -> Iterator[PathCounters]:
    near = ", ".join((host.name, *(other.name for other in host.guests if other is not guest)))
    legs = ((Leg.VIRTIO, VIRTIO_NIC, near), (Leg.SRIOV, host.nics.vf, "all else"))
    table = parse_counters(root.read(f"proc/{process}/net/dev") or "")
    for leg, device, carries in legs:
        if device in table:
            yield PathCounters.model_validate(
                {"node": guest.name, "leg": leg, "device": device, "carries": carries}
                | table[device]
            )
