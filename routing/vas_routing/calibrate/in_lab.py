"""Steers packets in `vas lab net`: nodes are network namespaces here, and no vas-routed runs.

A leg is forced by telling `vas route apply`, on the guest and on its host, that the other leg is
down. As it is not, the guest's VF could still answer for the guest's address: so the other nodes'
neighbour caches are set to the right MAC, as the announcements of `vas-routed` would.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Cluster, Host
from vas_cluster.virtio import VIRTIO_NIC
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import run
from vas_routing.calibrate import iperf
from vas_routing.calibrate.cases import CalibrationCase
from vas_routing.calibrate.steering import RouteCommands, address_of
from vas_routing.links import Leg, NodeLinks, PathState

_LISTEN_SECONDS = 10.0
_UP_SECONDS = 10.0


@dataclass(frozen=True)
class InLab:
    """A guest in the lab, and the nodes that it measures to.

    `links`: node -> the present states of its paths, for the guest and its host. `mac` is that of
    the host's PF. `others`: node -> its SR-IOV device, for nodes that are not on that host.
    """

    cluster: Cluster
    source: str
    home: Host
    others: dict[str, str]
    links: dict[str, NodeLinks]
    mac: str
    directory: Path
    vas: RouteCommands

    @classmethod
    def prepare(
        cls, cluster: Cluster, cases: Sequence[CalibrationCase], directory: Path, vas: RouteCommands
    ) -> InLab:
        """Reads the nodes' paths, and writes the files for `vas route --links` to `directory`.

        Raises VasError if a path does not come up or a program fails, OSError if a file cannot be
        written.
        """
        source = cases[0].source
        home = cluster.host_by_guest(source)
        assert home is not None
        others = _others(cluster, home, cases)
        links = {node: _links(vas, node, directory) for node in (source, home.name)}
        lab = cls(cluster, source, home, others, links, _mac(home), directory, vas)
        for leg in Leg:
            for node in links:
                lab._file(node, leg).write_text(lab._forced(node, leg).model_dump_json())
        return lab

    def reach(self, argv: Sequence[str]) -> list[str]:
        """Returns the command line that runs a program on the guest."""
        return _on(self.source, argv)

    def start(self) -> list[list[str]]:
        """Returns the commands that give all nodes the routes of the switcher."""
        return [self._apply(node) for node in (*self.links, *self.others)]

    def commands(self, leg: Leg | None) -> list[list[str]]:
        """Returns `vas route apply` for the guest and its host, then the updates of neighbours'
        caches."""
        forced = [
            self._apply(node, *(["--links", str(self._file(node, leg))] if leg else []))
            for node in self.links
        ]
        return [*forced, *self._neighbours(leg)]

    def settle(self, leg: Leg | None) -> None:
        """Checks that the leg is in use; `vas route apply` has waited already. Raises VasError
        if not."""
        for node in (self.home.name, *self.others) if leg else ():
            if self.path(node) is not leg:
                raise VasError(f"the kernel does not take {leg}", where=f"{self.source} to {node}")

    def path(self, destination: str) -> Leg | None:
        """Returns the leg that the guest's kernel takes to a node; None without a route.

        Raises VasError if `ip` cannot be run.
        """
        get = ["ip", "-j", "route", "get", address_of(self.cluster, destination)]
        done = run(self.reach(get), check=False)
        if done.status != 0:
            return None
        by = json.loads(done.stdout)[0]["dev"]
        return Leg.VIRTIO if by == self.devices()[Leg.VIRTIO] else Leg.SRIOV

    def devices(self) -> dict[Leg, str]:
        """Returns the guest's interfaces by the names of the map."""
        virtio = self.links[self.source].virtio_device or VIRTIO_NIC
        return {Leg.VIRTIO: virtio, Leg.SRIOV: self.home.nics.vf}

    @contextmanager
    def servers(self, destinations: Sequence[str]) -> Iterator[None]:
        """Runs an iperf3 server on each of these nodes during a `with` block.

        Raises VasError if one does not start.
        """
        running = []
        try:
            for node in destinations:
                running.append(_serve(node, address_of(self.cluster, node)))
            yield
        finally:
            for process in running:
                process.kill()
                process.wait()

    def _apply(self, node: str, *options: str) -> list[str]:
        return _on(node, self.vas.line(["apply", *options], node, self._state(node)))

    def _neighbours(self, leg: Leg | None) -> Iterator[list[str]]:
        address = address_of(self.cluster, self.source)
        devices = {self.home.name: self.home.nics.pf} | self.others
        for node, device in devices.items():
            neigh = ["ip", "-n", node, "neigh"]
            if leg is Leg.VIRTIO and node in self.others:
                at = ["lladdr", self.mac, "dev", device, "nud", "reachable"]
                yield [*neigh, "replace", address, *at]
            else:
                yield [*neigh, "flush", "to", address, "dev", device]

    def _forced(self, node: str, leg: Leg) -> NodeLinks:
        """The paths of the guest or its host, with the guest's other leg down."""
        links = self.links[node]
        if leg is Leg.SRIOV:
            down = {peer: PathState.DOWN for peer in links.virtio if self._joins(node, peer)}
            return links.model_copy(update={"virtio": {**links.virtio, **down}})
        if node == self.source:
            drained = {"sriov": PathState.DOWN, "drained": frozenset({Leg.SRIOV})}
            return links.model_copy(update=drained)
        told = {**links.peers_sriov, self.source: PathState.DOWN}
        return links.model_copy(update={"peers_sriov": told})

    def _joins(self, node: str, peer: str) -> bool:
        """Whether a path between these two is the guest's."""
        return self.source in (node, peer)

    def _file(self, node: str, leg: Leg) -> Path:
        return self.directory / f"{node}-by-{leg}.json"

    def _state(self, node: str) -> Path:
        return self.directory / node


def _on(node: str, argv: Sequence[str]) -> list[str]:
    return ["ip", "netns", "exec", node, *argv]


def _others(cluster: Cluster, home: Host, cases: Sequence[CalibrationCase]) -> dict[str, str]:
    found = {}
    for node in dict.fromkeys(case.destination for case in cases):
        host = cluster.host(node)
        if host is None:
            away = cluster.host_by_guest(node)
            assert away is not None
            found[node] = away.nics.vf
        elif host is not home:
            found[node] = host.nics.pf
    return found


def _links(vas: RouteCommands, node: str, directory: Path) -> NodeLinks:
    """The paths of a node, when all of them are up: the kernel takes up to a second to say so."""

    def shown() -> NodeLinks:
        argv = _on(node, vas.line(["show", "--json"], node, directory / node))
        return NodeLinks.model_validate(json.loads(run(argv).stdout)["links"])

    def are_up(links: NodeLinks) -> bool:
        return {links.sriov, *links.virtio.values()} == {PathState.UP}

    return poll(shown, are_up, _UP_SECONDS, f"the links of {node} to be up")


def _mac(host: Host) -> str:
    shown = run(["ip", "-n", host.name, "-j", "link", "show", "dev", host.nics.pf]).stdout
    return str(json.loads(shown)[0]["address"])


def _serve(node: str, address: str) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(_on(node, iperf.server(address)), stdout=quiet, stderr=quiet)

    def listens() -> bool:
        if process.poll() is not None:
            raise VasError(f"iperf3 ended with status {process.returncode}", where=node)
        return bool(run(_on(node, ["ss", "-Hltn", "sport", "=", ":5201"])).stdout)

    poll(listens, bool, _LISTEN_SECONDS, f"iperf3 on {node} to listen")
    return process
