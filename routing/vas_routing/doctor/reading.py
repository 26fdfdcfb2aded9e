"""Reads a snapshot of this network namespace. Changes nothing.

Links, addresses, rules, routes and neighbours come by netlink, which also works where /sys is
another namespace's; parameters and the state of other programs from files under a root.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address, ip_interface
from typing import Any

from pyroute2 import IPRoute

from vas_core.root import Root
from vas_routing.desired import Interface
from vas_routing.doctor.facts import (
    BridgeFacts,
    Neighbour,
    NetworkFacts,
    NicFacts,
    SeenRoute,
    SeenRule,
    VirtualFunction,
)
from vas_routing.doctor.others import read, read_firewall, read_managed, read_networkd
from vas_routing.doctor.parameters import UNPRIVILEGED
from vas_routing.settings import RouteSettings

_VERSIONS = {socket.AF_INET: 4, socket.AF_INET6: 6}
_WITH_VFS = 1  # RTEXT_FILTER_VF
_NO_ANSWER = 0x01 | 0x20  # NUD_INCOMPLETE, NUD_FAILED
_JIFFIES_OF_USERS = 100  # USER_HZ: what a bridge's times are told in
_LINK_STATES = {0: "auto", 1: "enable", 2: "disable"}
_PARAMETERS = {
    4: ("rp_filter", "arp_filter", "arp_ignore", "arp_announce", "forwarding"),
    6: ("forwarding", "force_forwarding"),
}
_OTHERS = (
    "net/bridge/bridge-nf-call-iptables",
    "net/bridge/bridge-nf-call-ip6tables",
    UNPRIVILEGED,
)
_KSOCKLND = "sys/module/ksocklnd/parameters/skip_mr_route_setup"
_DEFAULTS = RouteSettings()


def read_facts(root: Root, settings: RouteSettings = _DEFAULTS) -> NetworkFacts:
    """Returns the snapshot that `examine` needs.

    Things that this user may not read are in the facts' `unread`. Raises BadInput for files that a
    captured tree must not hold.
    """
    with IPRoute() as netlink:
        nics = read_nics(netlink)
        names = {nic.index: nic.name for nic in nics.values()}
        rules = tuple(_rules(netlink))
        routes = tuple(_routes(netlink, names, settings))
        neighbours = tuple(_neighbours(netlink, names))
    unread: dict[str, str] = {}
    return NetworkFacts(
        nics=nics,
        rules=rules,
        routes=routes,
        neighbours=neighbours,
        sysctls=_sysctls(root, nics, unread),
        firewall=read_firewall(root),
        managed=read_managed(root, nics.values(), unread),
        networkd=read_networkd(root, unread),
        skip_mr_route_setup=read(root, _KSOCKLND, unread),
        unread=unread,
    )


def read_nics(netlink: IPRoute) -> dict[str, NicFacts]:
    """Returns the interfaces by their names, PFs with their VFs."""
    links = list(netlink.get_links(ext_mask=_WITH_VFS))
    addresses: dict[int, list[Interface]] = {}
    for message in netlink.get_addr():
        text = f"{message.get('local') or message.get('address')}/{message['prefixlen']}"
        addresses.setdefault(message["index"], []).append(ip_interface(text))
    by_index = {link["index"]: link for link in links}
    nics = (nic(link, by_index, addresses.get(link["index"], ())) for link in links)
    return {each.name: each for each in nics}


def nic(link: Any, links: Mapping[int, Any], addresses: Iterable[Interface]) -> NicFacts:
    """Returns the facts of one interface of a dump; `links` are all of them, by index."""
    master = links.get(link.get("master"))
    return NicFacts(
        index=link["index"],
        name=link.get("ifname"),
        mac=(link.get("address") or "").lower(),
        mtu=link.get("mtu"),
        master=master.get("ifname") if master else None,
        master_kind=_kind(master) if master else None,
        addresses=tuple(addresses),
        vfs=_vfs(link),
        bridge=_bridge(link),
    )


def _kind(link: Any) -> str | None:
    info = link.get("linkinfo")
    return info.get_attr("IFLA_INFO_KIND") if info else None


def _bridge(link: Any) -> BridgeFacts | None:
    if _kind(link) != "bridge":
        return None
    data = link.get("linkinfo").get_attr("IFLA_INFO_DATA")
    return BridgeFacts(
        stp=bool(data.get_attr("IFLA_BR_STP_STATE")),
        forward_delay_seconds=(data.get_attr("IFLA_BR_FORWARD_DELAY") or 0) / _JIFFIES_OF_USERS,
        calls_iptables=bool(data.get_attr("IFLA_BR_NF_CALL_IPTABLES")),
        calls_ip6tables=bool(data.get_attr("IFLA_BR_NF_CALL_IP6TABLES")),
    )


def _vfs(link: Any) -> tuple[VirtualFunction, ...] | None:
    """None for an interface that is not a PF; for a PF without VFs the kernel reports an empty
    list."""
    if link.get("num_vf") is None:
        return None
    entries = link.get("vfinfo_list")
    return tuple(map(_vf, entries.get_attrs("IFLA_VF_INFO"))) if entries else ()


def _vf(entry: Any) -> VirtualFunction:
    mac = entry.get_attr("IFLA_VF_MAC")
    state = _value(entry, "IFLA_VF_LINK_STATE")
    return VirtualFunction(
        number=mac["vf"],
        mac=mac["mac"],
        vlan=_value(entry, "IFLA_VF_VLAN"),
        spoof_check=_switch(_value(entry, "IFLA_VF_SPOOFCHK")),
        link_state=None if state is None else _LINK_STATES.get(state),
        trusted=_switch(_value(entry, "IFLA_VF_TRUST")),
    )


def _value(entry: Any, attribute: str) -> int | None:
    """pyroute2 calls the value as the attribute."""
    found = entry.get_attr(attribute)
    return None if found is None else int(found[attribute.removeprefix("IFLA_VF_").lower()])


def _switch(value: int | None) -> bool | None:
    # net/core/rtnetlink.c: -1 where the driver has no such thing.
    return {0: False, 1: True}.get(value) if value is not None else None


def _rules(netlink: IPRoute) -> Iterator[SeenRule]:
    for family, version in _VERSIONS.items():
        for message in netlink.get_rules(family=family):
            yield SeenRule(
                version=version,
                priority=message.get("priority") or 0,
                table=message.get("table") or message["table"],
                protocol=message.get("protocol") or 0,
                source=f"{message.get('src')}/{message['src_len']}" if message.get("src") else "",
                l3mdev=bool(message.get("l3mdev")),
            )


def _routes(netlink: IPRoute, names: Mapping[int, str], own: RouteSettings) -> Iterator[SeenRoute]:
    for family, version in _VERSIONS.items():
        for message in netlink.get_routes(family=family):
            table = message.get("table") or message["table"]
            if own.table != table and own.protocol != message["proto"]:
                continue
            to = message.get("dst")
            yield SeenRoute(
                version=version,
                destination=f"{to}/{message['dst_len']}" if to else "default",
                device=names.get(message.get("oif"), "?"),
                table=table,
                protocol=message["proto"],
                metric=message.get("priority") or 0,
            )


def _neighbours(netlink: IPRoute, names: Mapping[int, str]) -> Iterator[Neighbour]:
    for family in _VERSIONS:
        for message in netlink.get_neighbours(family=family):
            mac = message.get("lladdr")
            if mac and not message["state"] & _NO_ANSWER:
                yield Neighbour(
                    address=ip_address(message.get("dst")),
                    device=names.get(message["ifindex"], "?"),
                    mac=mac.lower(),
                )


def _sysctls(root: Root, nics: Iterable[str], unread: dict[str, str]) -> dict[str, str]:
    paths = [
        f"net/ipv{version}/conf/{device}/{name}"
        for version, names in _PARAMETERS.items()
        for device in ("all", *nics)
        for name in names
    ]
    values = {path: read(root, f"proc/sys/{path}", unread) for path in (*paths, *_OTHERS)}
    return {path: value for path, value in values.items() if value is not None}
