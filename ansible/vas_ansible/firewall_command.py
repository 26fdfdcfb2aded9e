"""`vas provision firewall`: the firewall rules of a node."""

from __future__ import annotations

from pathlib import Path

import click

from vas_ansible.checks.firewall import needed_ports
from vas_ansible.firewall import (
    node_firewalld,
    node_nftables,
    server_firewalld,
    server_nftables,
)
from vas_cluster import Cluster, load_cluster
from vas_cluster.loading import default_path
from vas_core.errors import BadInput
from vas_core.suggest import suggestion


@click.command()
@click.option(
    "--node", required=True, help="Name of a storage server, a guest or the ResourceManager."
)
@click.option(
    "--as",
    "form",
    type=click.Choice(["nftables", "firewalld"]),
    default="nftables",
    show_default=True,
    help="Output for `nft -f`, or commands of firewalld.",
)
@click.option(
    "--probe-port", type=int, help="UDP port of the route probes.  [default: vas-routed's]"
)
@click.option(
    "--monitoring",
    metavar="ADDRESS",
    multiple=True,
    help="Address of a machine that may read the metrics ports 9213 and 9214.",
)
@click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path),
    default=default_path,
    help="Path of the site's map; $VAS_CLUSTER or /etc/vas/cluster.yaml.",
)
def firewall(
    node: str, form: str, probe_port: int | None, monitoring: tuple[str, ...], cluster_file: Path
) -> None:
    """Print firewall rules that let in only needed traffic.

    A storage server drops traffic from guests, except to the ports of Lustre and the probes.

    \b
    Example: vas provision firewall --node oss01.hpc.example > /etc/nftables.d/vas-guests.nft

    \f
    Raises BadInput for a login node, which needs no rules, and for a name that is not in the map.
    """
    cluster = load_cluster(cluster_file)
    host, nft = cluster.host(node), form == "nftables"
    if host is None:
        _refuse_what_needs_no_rules(cluster, node)
        click.echo((node_nftables if nft else node_firewalld)(cluster), nl=False)
        return
    given = {"probe_port": probe_port} if probe_port else {}
    needed = needed_ports(host, {"vas_route_switcher_settings": given})
    made = (server_nftables if nft else server_firewalld)(cluster, host, needed, monitoring)
    click.echo(made, nl=False)


def _refuse_what_needs_no_rules(cluster: Cluster, node: str) -> None:
    if node in {client.name for client in cluster.yarn.clients}:
        hint = "name a storage server, a guest or the ResourceManager: they let this node in"
        raise BadInput("is a login node, to which nobody connects", where=node, hint=hint)
    manager = cluster.yarn.resourcemanager.name
    if node != manager and cluster.host_by_guest(node) is None:
        known = [*(host.name for host in cluster.hosts), *(it.name for it in cluster.guests())]
        raise BadInput(
            "is not in the map", where=node, hint=suggestion(node, [*known, manager], "it has")
        )
