"""Snapshots of nodes of the small site where all is well, to spoil one thing at a time."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_interface
from typing import Any

from site_map import FABRIC, site

from vas_routing.doctor import NetworkFacts, RouteFinding, examine
from vas_routing.doctor.facts import BridgeFacts, NicFacts, VirtualFunction

_ADDRESSES = {
    4: {"oss1": "10.77.0.11/24", "vm1": "10.77.0.21/24", "hop": "169.254.213.1/24"},
    6: {"oss1": "fd00:77::11/64", "vm1": "fd00:77::21/64", "hop": "fe80::213:1/64"},
}
_GUEST_HOP = {4: "169.254.213.2/24", 6: "fe80::213:2/64"}
assert set(FABRIC) == set(_ADDRESSES)


def vf(number: int, mac: str, **other: Any) -> VirtualFunction:
    """A VF as it should be."""
    kind: dict[str, Any] = {"vlan": 0, "spoof_check": True, "link_state": "auto", "trusted": False}
    return VirtualFunction(number=number, mac=mac, **(kind | other))


def healthy(node: str, version: int = 4) -> NetworkFacts:
    """Of `oss1` or `vm1`, before VAS has applied anything."""
    own, hop = _ADDRESSES[version][node], _ADDRESSES[version]["hop"]
    if node == "oss1":
        vfs = (vf(0, "52:54:00:77:01:01"), vf(1, "52:54:00:77:04:01"))
        legs = [
            nic(2, "pf0", own, vfs=vfs),
            nic(3, "br0", hop, bridge=BridgeFacts(stp=False, forward_delay_seconds=0.0)),
            nic(4, "tap0", master="br0", master_kind="bridge"),
        ]
    else:
        legs = [
            nic(2, "vf0", own, mac="52:54:00:77:01:01"),
            nic(3, "virtio0", _GUEST_HOP[version], mac="52:54:00:77:01:02"),
        ]
    return NetworkFacts(
        nics={leg.name: leg for leg in legs}, sysctls=sysctls(*(leg.name for leg in legs))
    )


def nic(index: int, name: str, *addresses: str, **other: Any) -> NicFacts:
    """An interface of MTU 1500."""
    kind: dict[str, Any] = {"mac": f"02:00:00:00:00:0{index}", "mtu": 1500}
    own = tuple(map(ip_interface, addresses))
    return NicFacts(index=index, name=name, addresses=own, **(kind | other))


def sysctls(*devices: str) -> dict[str, str]:
    """A new kernel's defaults."""
    values = {
        f"net/ipv4/conf/{device}/{name}": "0"
        for device in ("all", *devices)
        for name in ("rp_filter", "arp_filter", "arp_ignore", "arp_announce")
    }
    values |= {f"net/ipv6/conf/{d}/forwarding": "0" for d in ("all", *devices)}
    return values | {f"net/ipv6/conf/{d}/force_forwarding": "0" for d in devices}


def with_nic(facts: NetworkFacts, name: str, **change: Any) -> NetworkFacts:
    """The same with one interface changed, or a new one if there is none of that name."""
    old = facts.nics.get(name) or nic(9, name)
    return replace(facts, nics={**facts.nics, name: replace(old, **change)})


def without(facts: NetworkFacts, *names: str) -> NetworkFacts:
    """The same without some sysctls."""
    kept = {name: value for name, value in facts.sysctls.items() if name not in names}
    return replace(facts, sysctls=kept)


def with_sysctl(facts: NetworkFacts, **values: str) -> NetworkFacts:
    """The same with some sysctls; `__` stands for the slash."""
    new = {name.replace("__", "/"): value for name, value in values.items()}
    return replace(facts, sysctls={**facts.sysctls, **new})


def findings(facts: NetworkFacts, node: str, check: str, version: int = 4) -> list[RouteFinding]:
    """Those of one check."""
    return [found for found in examine(site(version), node, facts) if found.check == check]


def one_bad(facts: NetworkFacts, node: str, check: str, version: int = 4) -> RouteFinding:
    """The one finding of a check that is bad; and no other check has one."""
    wrong = [f for f in examine(site(version), node, facts) if f.ok is False]
    assert [f.check for f in wrong] == [check], wrong
    assert wrong[0].fix
    return wrong[0]
