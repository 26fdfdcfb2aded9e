"""Sets the route switcher's routes on every node: `python -m vas_lab.inside.routes MAP`, in a lab.

One process goes from node to node, as starting Python takes longer than to route a node.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from vas_cluster import Cluster, load_cluster
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import run
from vas_lab.inside.mounts import route_state
from vas_routing.kernel import RouteKernel
from vas_routing.links import Leg
from vas_routing.node import RoutedNode
from vas_routing.observe import Legs, devices, legs, links
from vas_routing.settings import RouteSettings

_CLONE_NEWNET = 0x40000000
_CARRIER_SECONDS = 20.0


def route_nodes(cluster_file: Path) -> None:
    """Gives every host and guest of a map the routes of `vas route apply`.

    The network must be built. Raises VasError if the kernel refuses.
    """
    run([sys.executable, "-P", "-m", __name__, cluster_file])


def route_node(cluster: Cluster, node: str) -> None:
    """Gives one node its routes; this process must be in its network namespace.

    Raises VasError where its links do not come up, or the kernel refuses.
    """
    found = poll(
        lambda: legs(cluster, node, devices()), _all_up, _CARRIER_SECONDS, f"the links of {node}"
    )
    switch = RoutedNode(cluster, node, RouteKernel(RouteSettings()), route_state(node))
    switch.apply(switch.desired_state(links(found), {}))


def _all_up(found: Legs) -> bool:
    # A host without guests has no bridge.
    return all(found.has_carrier(leg) for leg in Leg if found.peers or leg is Leg.SRIOV)


def _enter(node: str) -> None:
    """Moves this thread into a node's network namespace (os.setns is there since Python 3.12)."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/run/netns", node).open() as namespace:
        if libc.setns(namespace.fileno(), _CLONE_NEWNET) != 0:
            raise VasError(os.strerror(ctypes.get_errno()), where=f"node {node}")


def main() -> None:
    """Routes all nodes of the map that the only argument names.

    Raises VasError where the kernel refuses.
    """
    cluster = load_cluster(Path(sys.argv[1]))
    for host in cluster.hosts:
        for node in (host.name, *(guest.name for guest in host.guests)):
            _enter(node)
            route_node(cluster, node)


if __name__ == "__main__":
    try:
        main()
    except VasError as error:
        sys.exit(str(error))
