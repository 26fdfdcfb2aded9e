"""Checks the legs' MTU, and ports that another program listens on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from vas_ansible.checks.facts import MachineFacts
from vas_ansible.checks.finding import CheckFinding
from vas_cluster import Cluster

# What the roles' daemons listen on (vas_ansible.hadoop and Hadoop's own defaults): the
# ResourceManager's scheduler, tracker, clients, administrators and web pages, the history's three.
MANAGER_PORTS = (8030, 8031, 8032, 8033, 8088, 10020, 10033, 19888)
# The NodeManager's localizer, containers and web pages, and the shuffle.
NODE_PORTS = (8040, 8041, 8042, 13562)


def fabric_mtus(cluster: Cluster, known: Mapping[str, MachineFacts]) -> dict[str, int]:
    """Returns storage server or guest -> MTU, in bytes, of its interface with the map's address."""
    nodes = {host.name: host.address for host in cluster.hosts}
    nodes |= {guest.name: guest.address for guest in cluster.guests()}
    legs = (
        (name, nic.mtu)
        for name, facts in known.items()
        for nic in facts.interfaces.values()
        if nodes.get(name) in nic.addresses
    )
    return dict(legs)


def fabric(cluster: Cluster, node: str, mtus: Mapping[str, int]) -> Iterator[CheckFinding]:
    """Finds legs with another MTU: within one network no router reports packets that are too long.

    A guest's MTU is compared with its server's, a server's with that of most servers.
    """
    parent = cluster.host_by_guest(node)
    servers = {host.name: mtus[host.name] for host in cluster.hosts if host.name in mtus}
    like = parent.name if parent else _usual(servers)
    if node in mtus and like in mtus and mtus[node] != mtus[like]:
        what = f"its leg on the data fabric takes {mtus[node]} bytes, and {like}'s {mtus[like]}"
        fix = "give every leg what the switches carry, in each machine's network configuration"
        yield CheckFinding(node, "mtu", what, fix + "; a guest's is vas_guest_settings.mtu")


def _usual(mtus: Mapping[str, int]) -> str:
    """The first that has what most have; "" of none."""
    most = Counter(mtus.values()).most_common(1)
    return next((name for name, mtu in mtus.items() if mtu == most[0][0]), "")


def ports(
    node: str, facts: MachineFacts, unit: str, wanted: Sequence[int]
) -> Iterator[CheckFinding]:
    """Finds needed ports that another program listens on; not once VAS's unit is installed."""
    if unit in facts.units:
        return
    taken = [str(port) for port in wanted if port in facts.listening]
    if taken:
        what = f"somebody listens on port {', '.join(taken)}, which YARN needs"
        fix = f"see who by `ss -ltnp sport = :{taken[0]}`, and stop it or give it another port"
        yield CheckFinding(node, "ports", what, fix)
