"""Explains which path a destination takes and why, and what route the kernel has for it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from vas_cluster import Cluster
from vas_core.errors import BadInput
from vas_routing.desired import Address, DesiredState, Route
from vas_routing.links import Leg, NodeLinks, PathState
from vas_routing.policy import NodePlace
from vas_routing.settings import MAIN_TABLE

_LOOKUP_TABLE = 0x1000  # RTM_F_LOOKUP_TABLE: else the kernel says 254 whatever the table


@dataclass(frozen=True)
class RouteAnswer:
    """The kernel's route: `device`, and `gateway` and `source` where it names them."""

    device: str
    gateway: str | None
    source: str | None
    table: int


@dataclass(frozen=True)
class PathExplanation:
    """The path of a destination. `leg` is None for the node itself, or if no path is up.

    `kernel` is None if the kernel was not asked, or has no route.
    """

    destination: str
    address: str
    leg: Leg | None
    device: str | None
    gateway: str | None
    reason: str
    kernel: RouteAnswer | None = None

    @property
    def agrees(self) -> bool:
        """Tells whether the kernel takes the desired path; True for a path that is not VAS's."""
        if self.device is None:
            return True
        mine = (self.device, self.gateway)
        return self.kernel is not None and (self.kernel.device, self.kernel.gateway) == mine

    def as_json(self) -> dict[str, Any]:
        """Returns the explanation as `vas route explain --json` prints it."""
        row = {
            "destination": self.destination,
            "address": self.address,
            "path": self.leg,
            "device": self.device,
            "gateway": self.gateway,
            "reason": self.reason,
        }
        return row | {"kernel": self.kernel.__dict__ if self.kernel else None}


def address_of(cluster: Cluster, destination: str) -> Address:
    """Returns the address of a host or guest by its name, of a NID, or the address itself.

    Raises BadInput for a text that is none of them.
    """
    name = cluster.name_of(destination)
    if host := cluster.host(name):
        return ip_address(host.address)
    if cluster.host_by_guest(name):
        return ip_address(cluster.guest(name).address)
    try:
        return ip_address(destination.partition("@")[0])
    except ValueError:
        hint = "give an address, a NID, or a name of the map"
        raise BadInput("not a host, a guest or an address", where=destination, hint=hint) from None


def explain(
    here: NodePlace, links: NodeLinks, desired: DesiredState | None, destination: str, to: Address
) -> PathExplanation:
    """Returns the policy's path to the address `to`, and the reason. Pure.

    `destination` is the address as the user named it. `desired` is None if no path is up.
    """

    def path(leg: Leg | None, device: str | None, gateway: str | None, why: str) -> PathExplanation:
        return PathExplanation(destination, str(to), leg, device, gateway, why)

    if to == here.me.address:
        return path(None, "lo", None, "the node itself")
    if desired is None:
        return path(None, None, None, "no path is up: nothing is touched")
    route = _longest(desired, to)
    if route:
        return path(Leg.VIRTIO, route.device, str(route.gateway), route.reason)
    if to not in links.fabric:
        return path(None, None, None, f"not of the data fabric {links.fabric}: left alone")
    why = "the kernel's own connected route"
    peer = next((peer for peer in here.peers if peer.address == to), None)
    if peer and not links.reaches(peer.name):
        why = f"{peer.name} is on this host, but virtio is down: {why}"
    elif peer:
        why = f"{peer.name} is on this host, but SR-IOV was measured to be faster: {why}"
    elif links.sriov is PathState.DOWN:
        why = f"the SR-IOV leg is down, and no host is reached over virtio: {why}"
    return path(Leg.SRIOV, here.sriov, None, why)


def _longest(desired: DesiredState, to: Address) -> Route | None:
    ours = (r for r in desired.routes if r.table != MAIN_TABLE and to in r.destination)
    return max(ours, key=lambda route: route.destination.prefixlen, default=None)


def ask(to: Address) -> RouteAnswer | None:
    """Returns the route of this network namespace's kernel (`ip route get`); None without a
    route."""
    with IPRoute() as netlink:
        try:
            (message,) = netlink.route("get", dst=str(to), flags=_LOOKUP_TABLE)
        except NetlinkError:
            return None
        names = {link["index"]: link.get("ifname") for link in netlink.get_links()}
        return RouteAnswer(
            names[message.get("oif")],
            message.get("gateway"),
            message.get("prefsrc"),
            message.get("table"),
        )
