"""Derives a site's Ansible inventory from the map. Pure: nodes with groups and variables.

The map is the only place where a machine is named; the plugin `vas_cluster` passes the nodes on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from vas_cluster import Cluster, Host
from vas_core.errors import BadInput


class InventoryGroup(StrEnum):
    """Inventory groups that the playbooks use."""

    OSS = "vas_oss"
    """Storage servers."""
    GUESTS = "vas_guests"
    """The virtual machines on them."""
    EVACUATED = "vas_evacuated"
    """Storage servers that evacuate.yml freed, and their guests, which site.yml skips."""
    SILENT = "vas_silent"
    """Guests that do not answer, where a playbook allows this; empty until it finds them."""
    MONITORING = "vas_monitoring"
    """Machines that run Prometheus: named by a site's own inventory file, not by the map."""
    CLIENTS = "vas_clients"
    """Login nodes, from which users submit jobs, and on which no daemon runs."""
    MANAGER = "vas_resourcemanager"
    """The machine of YARN's ResourceManager: a host or guest of the map, or its own machine."""


@dataclass(frozen=True)
class InventoryNode:
    """A machine of the site: its address, its groups, and its variables from the map."""

    name: str
    address: str
    groups: tuple[InventoryGroup, ...]
    variables: dict[str, object] = field(default_factory=dict)


def evacuated_hosts(cluster: Cluster, mark: str) -> frozenset[str]:
    """Returns the storage servers that `mark`, the text of MAP.evacuated, names one per line.

    Raises BadInput for a name that is not a storage server of the map.
    """
    names = frozenset(mark.split())
    unknown = sorted(names - {host.name for host in cluster.hosts})
    if unknown:
        hint = "remove that line: evacuate.yml and readmit.yml write this file"
        raise BadInput("is not a storage server of the map", where=unknown[0], hint=hint)
    return names


def nodes_of(cluster: Cluster, evacuated: Collection[str] = ()) -> list[InventoryNode]:
    """Returns every machine of the map once, each storage server followed by its guests.

    Storage servers in `evacuated` and their guests are also in the group EVACUATED.
    """
    found = [
        _left_alone(node) if host.name in evacuated else node
        for host in cluster.hosts
        for node in _on(cluster, host)
    ]
    manager = cluster.yarn.resourcemanager
    if not any(node.name == manager.name for node in found):
        found.append(
            InventoryNode(manager.name, cluster.resourcemanager_address, (InventoryGroup.MANAGER,))
        )
    clients = (InventoryGroup.CLIENTS,)
    return found + [InventoryNode(c.name, c.address, clients) for c in cluster.yarn.clients]


def _on(cluster: Cluster, host: Host) -> Iterator[InventoryNode]:
    """A storage server, and the guests that run on it."""
    said: dict[str, object] = {"vas_host": host.model_dump(mode="json", exclude_none=True)}
    yield InventoryNode(
        host.name, host.address, _groups(cluster, host.name, InventoryGroup.OSS), said
    )
    for guest in host.guests:
        said = {
            "vas_guest": guest.model_dump(mode="json"),
            "vas_guest_host": host.name,
            "vas_nics": {"vf": host.nics.vf},
        }
        yield InventoryNode(
            guest.name, guest.address, _groups(cluster, guest.name, InventoryGroup.GUESTS), said
        )


def _left_alone(node: InventoryNode) -> InventoryNode:
    return replace(node, groups=(*node.groups, InventoryGroup.EVACUATED))


def _groups(cluster: Cluster, name: str, first: InventoryGroup) -> tuple[InventoryGroup, ...]:
    is_manager = cluster.yarn.resourcemanager.name == name
    return (first, InventoryGroup.MANAGER) if is_manager else (first,)
