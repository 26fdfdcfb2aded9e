"""Plans the settings with which LNet, Lustre's network layer, follows the route switcher.

A tcp NID is an address: ksocklnd binds to it, and the kernel's routes decide the leg. An o2ib NID
is a device: no route moves it. There the same policy is a second LNet network on the virtio leg,
which LNet prefers wherever a peer has it too. Pure; nothing is imported or started here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from typing import Any

import yaml

from vas_cluster import Cluster, Guest, Host
from vas_cluster.virtio import VIRTIO_NIC, guest_interface, host_interface
from vas_core.errors import BadInput
from vas_routing.names import host_of

_FIRST_NET = 213
_LAST_NET = 65535
_HIGHEST = 0  # of UDSP priorities; what has no rule comes last


class NidKind(StrEnum):
    """The network driver that carries a node's NIDs."""

    TCP = "tcp"
    O2IB = "o2ib"
    OTHER = "other"


@dataclass(frozen=True)
class LnetPlan:
    """The settings that a node's LNet needs. `yaml` is for `lnetctl import`; None if none are
    needed."""

    kind: NidKind
    explanation: tuple[str, ...]
    yaml: str | None = None

    def as_file(self) -> str:
        """Returns the explanation as comments, followed by the YAML."""
        return "".join(f"# {line}\n" for line in self.explanation) + (self.yaml or "")

    def as_json(self) -> dict[str, Any]:
        """Returns the plan as `vas route lnet --json` prints it."""
        return {"kind": self.kind, "explanation": list(self.explanation), "yaml": self.yaml}


def lnet_plan(cluster: Cluster, node: str) -> LnetPlan:
    """Returns the settings with which a node's LNet takes the same paths as the switcher.

    Raises BadInput for a node that the map does not have, or if no LNet network is free.
    """
    host = host_of(cluster, node)
    kind = _kind(host)
    if kind is NidKind.TCP:
        return LnetPlan(kind, _TCP)
    if kind is NidKind.OTHER:
        return LnetPlan(kind, (f"{host.nids[0]} is on a network of its own, not on the PF's.",))
    return _o2ib(cluster, host, None if host.name == node else cluster.guest(node))


def _kind(host: Host) -> NidKind:
    types = [nid.partition("@")[2].rstrip("0123456789") for nid in host.nids]
    if "o2ib" in types:
        return NidKind.O2IB
    return NidKind.TCP if set(types) == {"tcp"} else NidKind.OTHER


_RULES = (
    "Lustre's ksocklnd-config adds policy rules without a priority when ksocklnd is loaded: they "
    "come behind VAS's at 0. With another `rule_priority` they would stand in front of it; then "
    "put into /etc/modprobe.d/vas-lnet.conf: options ksocklnd skip_mr_route_setup=1",
)
_TCP = (
    "Nothing to do: ksocklnd binds to the address of the NID, and routes decide the leg.",
    "Connections that are open follow the switch; no NID changes, no target is registered again.",
    *_RULES,
)
_NOT_RUN = "Not run on hardware: made from the format that lnetctl reads, for Lustre 2.15 or later."


def _o2ib(cluster: Cluster, host: Host, guest: Guest | None) -> LnetPlan:
    nid = _fabric_nid(host)
    if nid is None:
        why = f"No o2ib NID of {host.name} has the PF's address {host.address}: the map does not "
        return LnetPlan(NidKind.O2IB, (why + "say which device carries it.",))
    if ip_address(host.address).version == 6:
        why = "LNet on the virtio leg needs an IPv4 address there; VAS gives it an IPv6 one."
        return LnetPlan(NidKind.O2IB, (why,))
    if not host.guests:
        return LnetPlan(NidKind.O2IB, (f"Nothing to do: {host.name} has no guest.",))
    net = _virtio_net(cluster, host)
    document = {
        "net": _nets(host, guest, nid.partition("@")[2], net),
        "peer": list(_peers(host, guest, nid.partition("@")[2], net)),
        # One kind of rule alone: what an item lacks, lnetctl takes from the next item.
        "udsp": [{"src": net, "action": {"priority": _HIGHEST}}],
    }
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False)
    return LnetPlan(NidKind.O2IB, tuple(_explanation(host, nid, net)), text)


def _fabric_nid(host: Host) -> str | None:
    nids = (nid for nid in host.nids if nid.partition("@")[2].startswith("o2ib"))
    return next((nid for nid in nids if nid.partition("@")[0] == host.address), None)


def _virtio_net(cluster: Cluster, host: Host) -> str:
    """One network per host: bridge addresses are the same on all, so that in one network for all
    a guest would take another host's NID for its own host's."""
    nids = [*cluster.lustre.mgs_nids, *(nid for each in cluster.hosts for nid in each.nids)]
    used = {nid.partition("@")[2] for nid in nids}
    free = (f"tcp{n}" for n in range(_FIRST_NET, _LAST_NET + 1) if f"tcp{n}" not in used)
    for each, net in zip(cluster.hosts, free, strict=False):
        if each is host:
            return net
    raise BadInput("no LNet network is free for its virtio leg", where=host.name)


def _nets(host: Host, guest: Guest | None, fabric: str, virtio: str) -> list[dict[str, Any]]:
    """The fabric first: a node's primary NID is the first that it has, and targets know it."""
    devices = (host.nics.vf, VIRTIO_NIC) if guest else (host.nics.pf, host.nics.bridge)
    return [
        {"net type": net, "local NI(s)": [{"interfaces": {0: device}}]}
        for net, device in zip((fabric, virtio), devices, strict=True)
    ]


def _peers(host: Host, guest: Guest | None, fabric: str, virtio: str) -> Iterator[dict[str, Any]]:
    """A guest's peer is its host; those of a host are its guests. Clients do not talk to one
    another."""
    if guest:
        first = f"{host.address}@{fabric}"
        others = [nid for nid in host.nids if nid != first]
        yield _peer(first, *others, f"{host_interface().ip}@{virtio}")
        return
    for each in host.guests:
        hop = guest_interface(host, each).ip
        yield _peer(f"{each.address}@{fabric}", f"{hop}@{virtio}")


def _peer(*nids: str) -> dict[str, Any]:
    nis = [{"nid": nid} for nid in nids]
    return {"primary nid": nids[0], "Multi-Rail": True, "peer ni": nis}


def _explanation(host: Host, nid: str, net: str) -> Iterator[str]:
    yield _NOT_RUN
    yield f"o2ib binds to a device, so no route moves {nid}: {net} on the virtio leg is the other."
    yield f"{net} is {host.name}'s alone: other hosts have other numbers, in the map's order."
    yield "The rule prefers it for every peer that has it; a leg whose health is worse is left."
    yield "Before: `vas route apply` (it gives the leg its address, which has to be its first one)."
    yield "Then, on the host and each of its guests: lnetctl lnet configure; lnetctl import FILE"
    yield "To look: lnetctl udsp show; lnetctl net show -v 4 (statistics of each network)"
    yield "To undo: lnetctl udsp del --idx N; lnetctl net del --net " + net
    yield from _RULES
    if len(host.nids) > 1:
        yield "Other NIDs of the host stay as they are: they are not in `net` here."


class _Dumper(yaml.SafeDumper):
    """Booleans as lnetctl compares them: with a capital."""


def _boolean(dumper: yaml.SafeDumper, value: bool) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:bool", str(value))


_Dumper.add_representer(bool, _boolean)
