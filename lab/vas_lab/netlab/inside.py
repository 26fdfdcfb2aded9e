"""PID 1 of a network: `python -m vas_lab.netlab.inside`, inside its own namespaces.

It reads what to make as a line of JSON, makes it, answers with a line, and ends with its stdin:
then the kernel ends every process, mount and network of it.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import yaml

from vas_core.errors import VasError
from vas_lab.inside import mounts
from vas_lab.inside.nodes import set_up_nodes
from vas_lab.netlab.messages import CLUSTER_FILE, NetworkMade, NetworkWanted
from vas_lab.network.apply import build_network
from vas_lab.network.shaping import shape_network
from vas_lab.network.topology import plan_topology

_HOSTS_FILE = mounts.RUN_VAS / "hosts"


def build(wanted: NetworkWanted) -> NetworkMade:
    """Makes the network in this process' namespaces.

    Raises VasError if the map or the kernel does not allow it.
    """
    topology = plan_topology(wanted.cluster)
    mounts.mount_run()
    site = wanted.cluster.model_dump(mode="json", exclude_none=True)
    CLUSTER_FILE.write_text(yaml.safe_dump(site, sort_keys=False))
    _HOSTS_FILE.write_text(topology.hosts_file())
    mounts.bind(_HOSTS_FILE, Path("/etc/hosts"))
    build_network(topology)
    if wanted.shaped:
        shape_network(wanted.cluster, topology)
    holders = set_up_nodes(topology.nodes, topology.master, None)
    return NetworkMade(holders={node: holder.pid for node, holder in holders.items()})


def main() -> None:
    """Makes the network and stays until stdin ends."""
    wanted = NetworkWanted.model_validate_json(sys.stdin.readline())
    try:
        made = build(wanted)
    except VasError as wrong:
        made = NetworkMade(error=str(wrong))
    print(made.model_dump_json(), flush=True)
    # Whoever loses its parent becomes PID 1's child: nobody is to wait for it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.stdin.read()


if __name__ == "__main__":
    main()
