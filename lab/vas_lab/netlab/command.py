"""`vas lab net`: the network of a site, for one command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click
import yaml

from vas_cluster import load_cluster, parse_cluster
from vas_lab.netlab import NetLab
from vas_lab.network.shaping import shaping
from vas_lab.network.topology import plan_topology
from vas_lab.sites import net_site
from vas_lab.views import print_network


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path),
    help="Map of the site. [default: three hosts, one of them with two guests]",
)
@click.option("--shaped", is_flag=True, help="Limit links to a tenth of Table 4.1's speeds.")
@click.option("--dry-run", is_flag=True, help="Print the ip and tc commands; start nothing.")
@click.argument("command", metavar="-- COMMAND...", nargs=-1, type=click.UNPROCESSED)
def net(cluster_file: Path | None, shaped: bool, dry_run: bool, command: tuple[str, ...]) -> int:
    """Run COMMAND in the network of a site, without YARN, Java or Lustre.

    Each host and guest is a network namespace, with the map's interfaces and addresses.
    COMMAND (default: a shell) runs on the ResourceManager's node, where `ip netns exec NODE`
    reaches all others and $VAS_CLUSTER names the map. Ends with COMMAND's status, and then with
    all of the network.

    \b
    Examples: vas lab net
              vas lab net -- ip netns exec vm1 ip route
              vas lab net --shaped -- ./measure.sh
    """
    if cluster_file:
        cluster = load_cluster(cluster_file)
    else:
        cluster = parse_cluster(yaml.safe_dump(net_site()), "net")
    if dry_run:
        topology = plan_topology(cluster)
        print_network(topology)
        if shaped:
            for node, line in shaping(cluster, topology):
                click.echo(f"tc -n {node} {line}")
        return 0
    with NetLab.start(cluster, shaped=shaped) as started:
        argv = started.enter(None, command or ("bash", "--norc"))
        return subprocess.run(argv, check=False).returncode
