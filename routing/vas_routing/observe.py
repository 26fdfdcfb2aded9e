"""Reads a node's interfaces from the kernel; their carriers are the states of unprobed paths."""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface
from typing import Any

from pyroute2 import IPRoute

from vas_cluster import Cluster, Guest, Host
from vas_cluster.virtio import VIRTIO_NIC
from vas_core.errors import VasError
from vas_routing.desired import Address, Interface
from vas_routing.links import Leg, NodeLinks, PathState
from vas_routing.names import host_of

_IFF_UP = 1
_SIOCETHTOOL, _ETHTOOL_GLINK = 0x8946, 0x0A
_VALUE = struct.Struct("=II")  # struct ethtool_value
_REQUEST = struct.Struct("@16sP16x")  # struct ifreq


@dataclass(frozen=True)
class NetDevice:
    """A network interface: name, index, MAC, whether it has a carrier, and its addresses."""

    name: str
    index: int
    mac: str
    carrier: bool
    addresses: tuple[Interface, ...] = ()


@dataclass(frozen=True)
class Legs:
    """A node's two interfaces, None for a missing one, and the other nodes on its host.

    `macs` has these nodes, each with the MAC of its virtio NIC, empty for the host.
    """

    sriov: NetDevice | None
    virtio: NetDevice | None
    sriov_name: str
    virtio_name: str
    address: Address
    macs: Mapping[str, str]

    def has_carrier(self, leg: Leg) -> bool:
        """Returns whether a leg is there and has a carrier."""
        device = self.sriov if leg is Leg.SRIOV else self.virtio
        return device is not None and device.carrier

    def must_have(self, leg: Leg) -> None:
        """Raises VasError if this leg's interface is not there."""
        name = self.sriov_name if leg is Leg.SRIOV else self.virtio_name
        if name in self.absent:
            hint = "is this the node? `--node` says which; the map names its interfaces"
            raise VasError("no such interface here", where=name, hint=hint)

    @property
    def indices(self) -> dict[Leg, int]:
        """The indices of the legs whose interfaces are there."""
        both = ((Leg.SRIOV, self.sriov), (Leg.VIRTIO, self.virtio))
        return {leg: device.index for leg, device in both if device}

    @property
    def peers(self) -> tuple[str, ...]:
        """The other nodes on the same host."""
        return tuple(self.macs)

    @property
    def absent(self) -> frozenset[str]:
        """The names of the legs whose interfaces are missing."""
        both = ((self.sriov_name, self.sriov), (self.virtio_name, self.virtio))
        return frozenset(name for name, device in both if device is None)

    @property
    def fabric(self) -> str | None:
        """The data fabric's network, as the address on the SR-IOV leg has it."""
        addresses = self.sriov.addresses if self.sriov else ()
        mine: Iterator[Interface] = (own for own in addresses if own.ip == self.address)
        own = next(mine, None)
        return str(own.network) if own else None


def devices() -> dict[str, NetDevice]:
    """Returns the interfaces of this network namespace by name."""
    with IPRoute() as netlink:
        addresses: dict[int, list[Interface]] = {}
        for message in netlink.get_addr():
            text = f"{message.get('local') or message.get('address')}/{message['prefixlen']}"
            addresses.setdefault(message["index"], []).append(ip_interface(text))
        return {
            link.get("ifname"): NetDevice(
                link.get("ifname"),
                link["index"],
                (link.get("address") or "").lower(),
                has_carrier(link),
                tuple(addresses.get(link["index"], ())),
            )
            for link in netlink.get_links()
        }


def has_carrier(link: Any) -> bool:
    """Returns whether a link message is of an interface that is up and has a carrier."""
    down = link.get("operstate") in ("DOWN", "LOWERLAYERDOWN", "NOTPRESENT")
    return bool(link["flags"] & _IFF_UP) and bool(link.get("carrier")) and not down


class Carriers:
    """Asks drivers for carriers, as the kernel may report a lost one a second late."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def has(self, index: int) -> bool:
        """Returns whether an interface has a carrier now; False if it is not there."""
        while name := _name_of(index):
            found = self._ask(name)
            if found is not None or _name_of(index) == name:
                return bool(found)
        return False

    def _ask(self, device: str) -> bool | None:
        """None where no interface has that name (any more)."""
        value = ctypes.create_string_buffer(_VALUE.pack(_ETHTOOL_GLINK, 0))
        request = _REQUEST.pack(device.encode(), ctypes.addressof(value))
        try:
            fcntl.ioctl(self._socket, _SIOCETHTOOL, request)
        except OSError:
            return None
        return bool(_VALUE.unpack(value.raw[: _VALUE.size])[1])


def _name_of(index: int) -> str | None:
    try:
        return socket.if_indextoname(index)
    except OSError:
        return None


def bridge_ports() -> dict[str, int]:
    """Returns MAC -> index of the port behind which a bridge of this network namespace saw it."""
    with IPRoute() as netlink:
        return {
            entry.get("lladdr"): entry["ifindex"]
            for entry in netlink.get_neighbours(family=socket.AF_BRIDGE)
            if entry.get("master")
        }


def legs(
    cluster: Cluster,
    node: str,
    found: Mapping[str, NetDevice],
    known: Mapping[Leg, int] | None = None,
) -> Legs:
    """Returns the legs of a node. Raises BadInput for a node that the map does not have.

    `known` are the indices that they had: an interface that was renamed meanwhile is still the leg,
    unless another one has the name, or the MAC, of the map now.
    """
    host = host_of(cluster, node)
    by_index = {device.index: device for device in found.values()}
    was = {leg: by_index.get(index) for leg, index in (known or {}).items()}
    if host.name == node:
        return _of_host(host, found, was)
    return _of_guest(host, cluster.guest(node), found, was)


def _of_host(
    host: Host, found: Mapping[str, NetDevice], was: Mapping[Leg, NetDevice | None]
) -> Legs:
    sriov = found.get(host.nics.pf) or was.get(Leg.SRIOV)
    virtio = found.get(host.nics.bridge) or was.get(Leg.VIRTIO)
    return Legs(
        sriov=sriov,
        virtio=virtio,
        sriov_name=sriov.name if sriov else host.nics.pf,
        virtio_name=virtio.name if virtio else host.nics.bridge,
        address=ip_address(host.address),
        macs={guest.name: guest.macs.virtio for guest in host.guests},
    )


def _of_guest(
    host: Host, me: Guest, found: Mapping[str, NetDevice], was: Mapping[Leg, NetDevice | None]
) -> Legs:
    sriov = _by_mac(found, me.macs.vf) or found.get(host.nics.vf) or was.get(Leg.SRIOV)
    virtio = _by_mac(found, me.macs.virtio) or found.get(VIRTIO_NIC) or was.get(Leg.VIRTIO)
    return Legs(
        sriov=sriov,
        virtio=virtio,
        sriov_name=sriov.name if sriov else host.nics.vf,
        virtio_name=virtio.name if virtio else VIRTIO_NIC,
        address=ip_address(me.address),
        macs={host.name: ""}
        | {other.name: other.macs.virtio for other in host.guests if other is not me},
    )


def links(
    found: Legs,
    drained: Collection[Leg] = (),
    *,
    fabric: str | None = None,
    **known: Any,
) -> NodeLinks:
    """Returns the states of the paths, by their carriers, or by `known` (fields of NodeLinks).

    A drained path is down. `fabric` is the data fabric's network, used if the SR-IOV leg's address
    does not tell it. Raises VasError if neither does.
    """
    fabric = found.fabric or fabric
    if fabric is None:
        missing = f"does not have the node's address {found.address}"
        raise VasError(
            missing if found.sriov else "no such interface here",
            where=found.sriov_name,
            hint="the node's address is on its PF or VF, as the map names it; away from the node,"
            " say which paths are up: --links FILE",
        )
    state = {
        leg: PathState.UP if found.has_carrier(leg) and leg not in drained else PathState.DOWN
        for leg in Leg
    }
    seen = {
        "sriov": state[Leg.SRIOV],
        "virtio": dict.fromkeys(found.peers, state[Leg.VIRTIO]),
        "fabric": fabric,
        "sriov_device": found.sriov_name,
        "virtio_device": found.virtio_name,
        "drained": frozenset(drained),
        "absent": found.absent,
    }
    return NodeLinks.model_validate(seen | known)


def _by_mac(found: Mapping[str, NetDevice], mac: str) -> NetDevice | None:
    return next((device for device in found.values() if device.mac == mac), None)
