"""Checks a node's two legs: they are there, in no bridge or bond, of one MTU, and have their
addresses."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_interface

from vas_routing.desired import Address
from vas_routing.doctor.facts import NicFacts
from vas_routing.doctor.finding import RouteFinding, bad, good
from vas_routing.doctor.subject import Subject
from vas_routing.policy import LOOPBACK


def examine_legs(who: Subject) -> Iterator[RouteFinding]:
    """Yields the findings on the two legs of a node."""
    yield from _there(who)
    yield from _free(who)
    yield from _macs(who)
    yield from _mtu(who)
    yield from _service_address(who)


def _there(who: Subject) -> Iterator[RouteFinding]:
    for leg, name in ((who.sriov, who.sriov_name), (who.virtio, who.virtio_name)):
        if leg:
            yield good("leg", name, "is there")
        elif who.guest or who.host.guests or name == who.sriov_name:
            yield bad("leg", name, "no such interface: this leg is never used", _make(who, name))


def _make(who: Subject, name: str) -> str:
    if name == who.virtio_name and who.guest is None:
        return f"ip link add {name} type bridge stp_state 0 forward_delay 0\nip link set {name} up"
    if who.guest and name == who.virtio_name:
        mac = who.guest.macs.virtio
        return f"virsh attach-interface {who.guest.name} bridge {who.host.nics.bridge} " + (
            f"--model virtio --mac {mac} --config --live   # on {who.host.name}"
        )
    return f"ip -br link   # and give the map (`nics`) the name that the interface has, not {name}"


def _free(who: Subject) -> Iterator[RouteFinding]:
    """A port's packets belong to its master: the routes and addresses on it are not used."""
    for leg in who.legs:
        if leg.master is None:
            yield good("enslaved", leg.name, "is not a port of a bridge, bond or VRF")
            continue
        kind = leg.master_kind or "master"
        what = f"is a port of the {kind} {leg.master}, which takes its packets: routes by "
        what += f"{leg.name} and its addresses carry nothing"
        yield bad("enslaved", leg.name, what, f"ip link set dev {leg.name} nomaster")


def _macs(who: Subject) -> Iterator[RouteFinding]:
    """Checks MACs on a guest; the PF's settings for its VFs are checked in `vfs.py`."""
    if who.guest is None:
        return
    wanted = ((who.sriov, who.guest.macs.vf), (who.virtio, who.guest.macs.virtio))
    for leg, mac in wanted:
        if leg is None:
            continue
        if leg.mac == mac:
            yield good("mac", leg.name, f"has the map's MAC {mac}")
        else:
            what = f"has MAC {leg.mac}, the map has {mac}: it is not found by its MAC, and the "
            what += "spoof check of its PF drops what it sends"
            yield bad("mac", leg.name, what, f"ip link set dev {leg.name} address {mac}")


def _mtu(who: Subject) -> Iterator[RouteFinding]:
    if who.sriov is None or who.virtio is None:
        return
    mtu = who.sriov.mtu
    others = [who.virtio, *_ports(who, who.virtio), *_own_vfs(who)]
    small = [nic for nic in others if nic.mtu != mtu]
    where = f"{who.sriov.name}, {who.virtio.name}"
    if not small:
        yield good("mtu", where, f"all have {mtu}")
        return
    sizes = ", ".join(f"{nic.name} {nic.mtu}" for nic in small)
    what = f"{who.sriov.name} has {mtu}, but {sizes}: a bridge, a tap or a NIC drops what is too "
    what += "long for it without a word, so that small packets pass and large transfers hang "
    what += "after a switch; on the other node it has to be the same"
    yield bad("mtu", where, what, _same_mtu(small, mtu))


def _same_mtu(nics: list[NicFacts], mtu: int) -> str:
    # Ports first: a bridge that nobody set an MTU of takes the least of its ports'.
    commands = [f"ip link set dev {nic.name} mtu {mtu}" for nic in reversed(nics)]
    return "\n".join([*commands, f"# for ever: <mtu size='{mtu}'/> in libvirt's <interface>"])


def _ports(who: Subject, bridge: NicFacts) -> list[NicFacts]:
    return [nic for nic in who.facts.nics.values() if nic.master == bridge.name]


def _own_vfs(who: Subject) -> list[NicFacts]:
    """The VFs of a host that no guest has taken yet, by the name and MACs of the map."""
    if who.guest:
        return []
    macs = {guest.macs.vf for guest in who.host.guests}
    nics = who.facts.nics.values()
    return [nic for nic in nics if nic.name == who.host.nics.vf or nic.mac in macs]


def _service_address(who: Subject) -> Iterator[RouteFinding]:
    address = who.address
    nics = [nic for nic in who.facts.nics.values() if _has(nic, address)]
    elsewhere = [nic for nic in nics if nic is not who.sriov]
    if not elsewhere and nics:
        yield good("service-address", who.sriov_name, f"has {address}, and no other does")
    elif who.sriov in nics:
        what = f"{address} is also on {', '.join(nic.name for nic in elsewhere)}: two NICs answer "
        what += "for it, and the routes to its network compete"
        yield bad("service-address", who.sriov_name, what, _take_away(who, elsewhere))
    else:
        what = f"{address} is not on the SR-IOV leg"
        if elsewhere:
            what += f" but on {', '.join(nic.name for nic in elsewhere)}"
        fix = "\n".join(filter(None, (_take_away(who, elsewhere), _give(who, elsewhere))))
        yield bad("service-address", who.sriov_name, f"{what}: peers cannot reach it there", fix)


def _has(nic: NicFacts, address: Address) -> bool:
    # VAS itself gives the address to lo, alone: it stays while its leg is set down (policy.py).
    vas = ip_interface(address) if nic.name == LOOPBACK else None
    return any(own.ip == address and own != vas for own in nic.addresses)


def _take_away(who: Subject, nics: list[NicFacts]) -> str:
    return "\n".join(
        f"ip address del {own} dev {nic.name}"
        for nic in nics
        for own in nic.addresses
        if own.ip == who.address
    )


def _give(who: Subject, nics: list[NicFacts]) -> str:
    found = (own for nic in nics for own in nic.addresses if own.ip == who.address)
    with_prefix = next(map(str, found), f"{who.address}/PREFIX-OF-THE-FABRIC")
    return f"ip address add {with_prefix} dev {who.sriov_name}"
