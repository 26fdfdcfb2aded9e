"""Finds nodes of the map by their names."""

from __future__ import annotations

from collections.abc import Iterator

from vas_cluster import Cluster, Host
from vas_core.errors import BadInput
from vas_core.suggest import suggestion


def host_of(cluster: Cluster, node: str) -> Host:
    """Returns the host that a node is, or that a guest is on. Raises BadInput if the map has
    none."""
    host = cluster.host(node) or cluster.host_by_guest(node)
    if host is None:
        known = (name for host in cluster.hosts for name in (host.name, *_guests(host)))
        hint = suggestion(node, known, "the map has")
        raise BadInput(f"no host or guest is named {node}", where="--node", hint=hint)
    return host


def _guests(host: Host) -> Iterator[str]:
    return (guest.name for guest in host.guests)
