"""Starts and ends a site's network, from outside its namespaces.

with NetLab.start(cluster) as net:
    run(net.enter("vm1", ["ip", "route"]))
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Cluster
from vas_core.errors import BadInput, VasError
from vas_core.root import Root
from vas_lab.ending import end_tied
from vas_lab.enter import in_new_namespaces, into_lab, into_node, with_environment
from vas_lab.netlab.messages import CLUSTER_FILE, NetworkMade, NetworkWanted
from vas_lab.network.topology import plan_topology
from vas_lab.options import user_namespaces
from vas_lab.procfs import children

_PROGRAM = "vas_lab.netlab.inside"
_END_SECONDS = 10.0


@dataclass(frozen=True)
class NetLab:
    """A running network of a site. Get one by `start`.

    `holders`: node -> the process (its id inside) that holds its namespaces; the master has none.
    """

    cluster: Cluster
    supervisor: int
    user_namespace: bool
    holders: Mapping[str, int]

    @classmethod
    @contextmanager
    def start(cls, cluster: Cluster, *, shaped: bool = False) -> Iterator[NetLab]:
        """Makes the network of a map for a `with` block, and removes it afterwards.

        It also ends with this process, however that ends. Raises BadInput for a map whose
        addresses cannot share a network, NotHere if the kernel allows no namespaces, VasError for
        any other failure.
        """
        user_namespace = user_namespaces()
        process = subprocess.Popen(
            in_new_namespaces(user_namespace, [sys.executable, "-P", "-m", _PROGRAM]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            made = _made(process, NetworkWanted(cluster=cluster, shaped=shaped))
            (supervisor,) = children(Root(), process.pid)
            yield cls(cluster, supervisor, user_namespace, made.holders)
        finally:
            _end(process)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Returns the names of the nodes: hosts, guests, the ResourceManager's, and the switch."""
        return plan_topology(self.cluster).nodes

    def enter(self, node: str | None, argv: Sequence[str]) -> list[str]:
        """Returns the command line that runs a program on a node; None is the ResourceManager's.

        There `ip netns exec NODE` works for every node, and $VAS_CLUSTER names the map.
        Raises BadInput for an unknown node.
        """
        node = node or self.cluster.yarn.resourcemanager.name
        if node not in self.nodes:
            raise BadInput("no such node", where=node, hint=f"one of {', '.join(self.nodes)}")
        path = f"{os.environ.get('PATH', os.defpath)}:{Path(sys.executable).parent}"
        variables = {"PATH": path, "VAS_CLUSTER": str(CLUSTER_FILE), "VAS_NODE": node}
        inner = with_environment(variables, Path.cwd(), argv)
        lab = into_lab(self.supervisor, self.user_namespace)
        return [*lab, *into_node(self.holders.get(node)), *inner]


def _made(process: subprocess.Popen[bytes], wanted: NetworkWanted) -> NetworkMade:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(wanted.model_dump_json().encode() + b"\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise VasError(f"the network ended with status {process.wait()} before it was up")
    made = NetworkMade.model_validate_json(line)
    if made.error:
        raise VasError(f"the network does not come up: {made.error}")
    return made


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.stdout.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        end_tied(process)
