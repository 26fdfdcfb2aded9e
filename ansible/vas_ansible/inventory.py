"""A site's machines as an Ansible inventory. Pure: the map in, nodes with groups and variables out.

The map is the only place where a machine is named; the plugin `vas_cluster` hands this to Ansible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from vas_cluster import Cluster, Host
from vas_core.errors import BadInput


class Group(StrEnum):
    """The groups that the playbooks name."""

    OSS = "vas_oss"
    """Storage servers."""
    GUESTS = "vas_guests"
    """The virtual machines on them."""
    EVACUATED = "vas_evacuated"
    """Storage servers that evacuate.yml freed, and their guests: site.yml leaves them alone."""
    SILENT = "vas_silent"
    """Guests that a playbook found not to be there, which is no failure then; empty before."""
    MONITORING = "vas_monitoring"
    """Where Prometheus runs: a site's own inventory file names it, the map does not."""
    MANAGER = "vas_resourcemanager"
    """Where YARN's ResourceManager runs: a host or guest of the map, or a machine of its own."""


@dataclass(frozen=True)
class Node:
    """A machine of the site: its address, its groups, and what the map says of it."""

    name: str
    address: str
    groups: tuple[Group, ...]
    variables: dict[str, object] = field(default_factory=dict)


def evacuated_hosts(cluster: Cluster, mark: str) -> frozenset[str]:
    """The storage servers named in the file beside the map, one a line.

    Raises BadInput for a name that the map does not have.
    """
    names = frozenset(mark.split())
    unknown = sorted(names - {host.name for host in cluster.hosts})
    if unknown:
        hint = "remove that line: evacuate.yml and readmit.yml write this file"
        raise BadInput("is no storage server of the map", where=unknown[0], hint=hint)
    return names


def nodes_of(cluster: Cluster, evacuated: Collection[str] = ()) -> list[Node]:
    """Every machine of the map, storage servers first, each once."""
    found = [
        _left_alone(node) if host.name in evacuated else node
        for host in cluster.hosts
        for node in _on(cluster, host)
    ]
    manager = cluster.yarn.resourcemanager
    if not any(node.name == manager.name for node in found):
        found.append(Node(manager.name, cluster.resourcemanager_address, (Group.MANAGER,)))
    return found


def _on(cluster: Cluster, host: Host) -> Iterator[Node]:
    """A storage server, and the guests that run on it."""
    said: dict[str, object] = {"vas_host": host.model_dump(mode="json", exclude_none=True)}
    yield Node(host.name, host.address, _groups(cluster, host.name, Group.OSS), said)
    for guest in host.guests:
        said = {
            "vas_guest": guest.model_dump(mode="json"),
            "vas_guest_host": host.name,
            "vas_nics": {"vf": host.nics.vf},
        }
        yield Node(guest.name, guest.address, _groups(cluster, guest.name, Group.GUESTS), said)


def _left_alone(node: Node) -> Node:
    return replace(node, groups=(*node.groups, Group.EVACUATED))


def _groups(cluster: Cluster, name: str, first: Group) -> tuple[Group, ...]:
    is_manager = cluster.yarn.resourcemanager.name == name
    return (first, Group.MANAGER) if is_manager else (first,)
