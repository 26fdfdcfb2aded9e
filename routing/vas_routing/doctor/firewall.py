"""Checks whether a host's firewall lets packets through that it forwards for a guest."""

from __future__ import annotations

from collections.abc import Iterator

from vas_routing.doctor.facts import ForwardChain
from vas_routing.doctor.finding import RouteFinding, bad, good, unknown
from vas_routing.doctor.subject import Subject

_FAMILIES = {4: ("ip", "inet"), 6: ("ip6", "inet")}
_LOOK = {
    "nft": "nft list ruleset",
    "iptables": "iptables-legacy -S FORWARD",
    "ip6tables": "ip6tables-legacy -S FORWARD",
}


def examine_firewall(who: Subject) -> Iterator[RouteFinding]:
    """Yields the chains that drop, what could not be read, and one good finding if all is well."""
    if who.guest or not who.host.guests:
        return
    chains = [c for c in who.facts.firewall.chains if c.family in _FAMILIES[who.version]]
    stops = [chain for chain in chains if chain.policy == "drop" and not _lets_through(who, chain)]
    for chain in stops:
        yield _stops(who, chain)
    for reason in who.facts.firewall.unread:
        look = _LOOK.get(reason.split()[0].rstrip(":"), _LOOK["nft"])
        yield unknown("firewall", "FORWARD", f"could not be read: {reason}", look)
    if not stops and not who.facts.firewall.unread:
        yield good(
            "firewall", "FORWARD", "no chain stops by its policy what passes between the legs"
        )


def _lets_through(who: Subject, chain: ForwardChain) -> bool:
    return all(
        not chain.accepts.isdisjoint({way, (way[0], None), (None, way[1]), (None, None)})
        for way in _ways(who)
    )


def _ways(who: Subject) -> tuple[tuple[str, str], tuple[str, str]]:
    """The directions of a guest's packets through its host: the device that they enter and leave
    by."""
    return (who.virtio_name, who.sriov_name), (who.sriov_name, who.virtio_name)


def _stops(who: Subject, chain: ForwardChain) -> RouteFinding:
    name = f"{chain.family} {chain.table} {chain.name}"
    what = f"drops what no rule accepts, and none accepts all between {who.virtio_name} and "
    what += f"{who.sriov_name}: a guest whose VF is down, which its host forwards for, is cut off"
    fix = "\n".join(
        f'nft insert rule {name} iifname "{enters}" oifname "{leaves}" accept'
        for enters, leaves in _ways(who)
    )
    return bad("firewall", name, what, fix)
