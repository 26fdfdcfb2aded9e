"""What the kernel says of a node's paths, where nobody has probed them: carriers and addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface

from pyroute2 import IPRoute

from vas_cluster import Cluster, Host
from vas_core.errors import BadInput, VasError
from vas_routing.links import Links, State
from vas_routing.wish import Address, Interface

_VIRTIO_NIC = "virtio0"


@dataclass(frozen=True)
class Device:
    """A network interface: its name, MAC, whether it has a carrier, and its addresses."""

    name: str
    mac: str
    carrier: bool
    addresses: tuple[Interface, ...]

    @property
    def state(self) -> State:
        """Up with a carrier."""
        return State.UP if self.carrier else State.DOWN


def devices() -> dict[str, Device]:
    """The interfaces of this network namespace, by name."""
    with IPRoute() as netlink:
        addresses: dict[int, list[Interface]] = {}
        for message in netlink.get_addr():
            text = f"{message.get('local') or message.get('address')}/{message['prefixlen']}"
            addresses.setdefault(message["index"], []).append(ip_interface(text))
        return {
            link.get("ifname"): Device(
                link.get("ifname"),
                (link.get("address") or "").lower(),
                bool(link.get("carrier")) and link.get("operstate") != "DOWN",
                tuple(addresses.get(link["index"], ())),
            )
            for link in netlink.get_links()
        }


def links(cluster: Cluster, node: str, found: Mapping[str, Device]) -> Links:
    """The paths of this node: a virtio path is up with its carrier.

    Raises BadInput for a node that the map does not have, VasError where an interface of the map
    is missing or does not have the node's address.
    """
    host = cluster.host(node)
    if host:
        return _of_host(host, found)
    host = cluster.host_by_guest(node)
    if host is None:
        raise BadInput(f"no host or guest is named {node}", where="--node")
    return _of_guest(host, node, found)


def _of_host(host: Host, found: Mapping[str, Device]) -> Links:
    pf = _device(found, host.nics.pf)
    bridge = found.get(host.nics.bridge)
    state = bridge.state if bridge else State.DOWN
    return Links(
        sriov=pf.state,
        virtio={guest.name: state for guest in host.guests},
        fabric=_fabric(pf, ip_address(host.address)),
    )


def _of_guest(host: Host, node: str, found: Mapping[str, Device]) -> Links:
    guest = next(guest for guest in host.guests if guest.name == node)
    vf = _by_mac(found, guest.macs.vf) or _device(found, host.nics.vf)
    virtio = _by_mac(found, guest.macs.virtio) or found.get(_VIRTIO_NIC)
    state = virtio.state if virtio else State.DOWN
    others = (host.name, *(other.name for other in host.guests if other is not guest))
    return Links(
        sriov=vf.state,
        virtio=dict.fromkeys(others, state),
        fabric=_fabric(vf, ip_address(guest.address)),
        sriov_device=vf.name,
        virtio_device=virtio.name if virtio else _VIRTIO_NIC,
    )


def _by_mac(found: Mapping[str, Device], mac: str) -> Device | None:
    return next((device for device in found.values() if device.mac == mac), None)


def _device(found: Mapping[str, Device], name: str) -> Device:
    if name not in found:
        hint = "the map and the kernel must call it the same"
        raise VasError("no such interface here", where=name, hint=hint)
    return found[name]


def _fabric(device: Device, address: Address) -> str:
    mine: Iterator[Interface] = (own for own in device.addresses if own.ip == address)
    own = next(mine, None)
    if own is None:
        raise VasError(
            f"does not have the node's address {address}",
            where=device.name,
            hint="the service address of a node is on its PF or VF",
        )
    return str(own.network)
