"""Checks what the PF lets each guest's VF do. On a host alone, as a guest cannot see it."""

from __future__ import annotations

from collections.abc import Iterator

from vas_cluster import Guest
from vas_routing.doctor.facts import NicFacts, VirtualFunction
from vas_routing.doctor.finding import RouteFinding, bad, good, unknown
from vas_routing.doctor.subject import Subject

_NO_MAC = "00:00:00:00:00:00"
_LINK_STATES = {
    "enable": "is forced up: the guest keeps its carrier when the PF has lost the fabric's, and "
    "does not fall back by itself",
    "disable": "is forced down: the guest has no fabric at all",
}


def examine_vfs(who: Subject) -> Iterator[RouteFinding]:
    """Yields the findings on the VF of each of a host's guests."""
    pf = who.sriov
    if who.guest or pf is None or not who.host.guests:
        return
    if not pf.vfs:
        yield _no_vfs(who, pf)
        return
    for guest in who.host.guests:
        vf = _vf_of(who, pf.vfs, guest)
        if vf is None:
            what = f"no VF has the MAC {guest.macs.vf} of {guest.name}, and none is free for it"
            wanted = len(who.host.guests)
            yield bad("vf-mac", pf.name, what, _more_vfs(pf, wanted))
        else:
            yield from _examine(pf, vf, guest)


def _no_vfs(who: Subject, pf: NicFacts) -> RouteFinding:
    wanted = len(who.host.guests)
    if pf.vfs is None:
        what = "the kernel lists no VFs for it: it is not a PF, or its driver does not report them"
        return unknown("vf-mac", pf.name, what, f"ip -d link show dev {pf.name}")
    what = f"has no VF, and there are guests for {wanted}"
    return bad("vf-mac", pf.name, what, _more_vfs(pf, wanted))


def _more_vfs(pf: NicFacts, wanted: int) -> str:
    """The number of VFs can change from 0 only; to 0 it hangs while a guest holds one."""
    file = f"/sys/class/net/{pf.name}/device/sriov_numvfs"
    if not pf.vfs:
        return f"echo {wanted} > {file}"
    return f"# stop the guests that hold a VF, then:\necho 0 > {file}\necho {wanted} > {file}"


def _vf_of(who: Subject, vfs: tuple[VirtualFunction, ...], guest: Guest) -> VirtualFunction | None:
    """The VF with the guest's MAC; else the one in the map's order, unless it is another
    guest's."""
    by_mac = next((vf for vf in vfs if vf.mac == guest.macs.vf), None)
    if by_mac:
        return by_mac
    others = {other.macs.vf for other in who.host.guests}
    free = [vf for vf in vfs if vf.mac not in others]
    without = [g for g in who.host.guests if g.macs.vf not in {vf.mac for vf in vfs}]
    at = without.index(guest)
    return free[at] if at < len(free) else None


def _examine(pf: NicFacts, vf: VirtualFunction, guest: Guest) -> Iterator[RouteFinding]:
    where = f"{pf.name} vf {vf.number}"
    order = f"ip link set dev {pf.name} vf {vf.number}"
    yield _mac(where, order, vf, guest)
    yield _spoof_check(where, order, vf, guest)
    yield _vlan(where, order, vf)
    yield _link_state(where, order, vf)
    yield _trust(where, order, vf, guest)


def _mac(where: str, order: str, vf: VirtualFunction, guest: Guest) -> RouteFinding:
    if vf.mac == guest.macs.vf:
        return good("vf-mac", where, f"has the MAC of {guest.name}, {vf.mac}")
    fix = f"{order} mac {guest.macs.vf}   # while {guest.name} is off; libvirt does it at its start"
    if vf.mac == _NO_MAC:
        what = f"has no MAC: {guest.name} gets another one at every start"
        return bad("vf-mac", where, what, fix)
    what = f"has MAC {vf.mac}, the map has {guest.macs.vf} for {guest.name}"
    return bad("vf-mac", where, what, fix)


def _spoof_check(where: str, order: str, vf: VirtualFunction, guest: Guest) -> RouteFinding:
    if vf.spoof_check is None:
        what = "the driver does not report whether it checks the sender's MAC"
        return unknown("vf-spoof-check", where, what, f"ip -d link show dev {where.split()[0]}")
    if vf.spoof_check and vf.mac not in (guest.macs.vf, _NO_MAC):
        what = f"the spoof check drops all that {guest.name} sends from {guest.macs.vf}"
        return bad("vf-spoof-check", where, what, f"{order} mac {guest.macs.vf}")
    state = "on, and the MAC is right" if vf.spoof_check else "off"
    return good("vf-spoof-check", where, f"spoof check {state}")


def _vlan(where: str, order: str, vf: VirtualFunction) -> RouteFinding:
    if vf.vlan is None:
        what = "the driver does not report its VLAN"
        return unknown("vf-vlan", where, what, f"ip -d link show dev {where.split()[0]}")
    if vf.vlan:
        what = f"is in VLAN {vf.vlan}, its PF in none: the two do not reach one another"
        return bad("vf-vlan", where, what, f"{order} vlan 0")
    return good("vf-vlan", where, "is in no VLAN of its own")


def _link_state(where: str, order: str, vf: VirtualFunction) -> RouteFinding:
    if vf.link_state is None:
        what = "the driver does not report whether the link follows the PF's"
        return unknown("vf-link-state", where, what, f"ip -d link show dev {where.split()[0]}")
    if vf.link_state in _LINK_STATES:
        return bad("vf-link-state", where, _LINK_STATES[vf.link_state], f"{order} state auto")
    return good("vf-link-state", where, "follows the PF's link")


def _trust(where: str, order: str, vf: VirtualFunction, guest: Guest) -> RouteFinding:
    """Trust lets a guest change its MAC, and take all packets. With the MAC given it needs
    neither."""
    if vf.trusted is None:
        what = "the driver does not report whether it trusts the guest"
        return unknown("vf-trust", where, what, f"ip -d link show dev {where.split()[0]}")
    if vf.trusted or vf.mac == guest.macs.vf:
        state = "trusted" if vf.trusted else "not trusted, and needs no trust: its MAC is given"
        return good("vf-trust", where, state)
    what = f"is not trusted, so {guest.name} cannot set its MAC {guest.macs.vf} itself"
    fix = f"{order} mac {guest.macs.vf}\n# or, if the guest is to set it: {order} trust on"
    return bad("vf-trust", where, what, fix)
