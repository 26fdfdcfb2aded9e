"""Checks kernel parameters that would drop or misdirect packets that the switch relies on.

The effective value is what the kernel makes of `all` and the device (include/linux/inetdevice.h):
the greater for rp_filter, arp_ignore and arp_announce, either for arp_filter.
"""

from __future__ import annotations

from collections.abc import Iterator

from vas_routing.doctor.facts import NicFacts
from vas_routing.doctor.finding import RouteFinding, bad, good, unknown
from vas_routing.doctor.subject import Subject

_STRICT = 1
# net/ipv4/arp.c arp_ignore(): 3 answers for the addresses of other legs, 4 to 7 are as 0, and from
# 8 on nothing is answered.
_ANSWERS_FOR_ITSELF = (1, 2)
_SILENT = 8
_OWN_ADDRESS = 2
UNPRIVILEGED = "net/ipv4/ip_unprivileged_port_start"


def examine_parameters(who: Subject) -> Iterator[RouteFinding]:
    """Yields the findings on the kernel parameters of the legs and of the probes' port."""
    for leg in who.legs if who.version == 4 else ():
        yield _rp_filter(who, leg)
        yield _arp_filter(who, leg)
        yield _arp_ignore(who, leg)
        yield _arp_announce(who, leg)
    if who.version == 6 and who.guest is None and who.host.guests:
        yield _forwarding_ipv6(who)
    yield _probe_port(who)


def _path(device: str, name: str, version: int = 4) -> str:
    return f"net/ipv{version}/conf/{device}/{name}"


def _probe_port(who: Subject) -> RouteFinding:
    """The kernel's setting is for both IP versions, in spite of its name."""
    port, first = who.settings.probe_port, who.facts.sysctls.get(UNPRIVILEGED, "1024")
    if port < int(first):
        return good("probe-port", f"port {port}", "only root may use it")
    what = f"whoever runs code here may send from it: {UNPRIVILEGED} is {first}. The key of the "
    what += "probes still tells a forged one, but who floods that port fills the probes' buffer"
    fix = f"sysctl -w {UNPRIVILEGED}=1024, or at most {port + 1}"
    return bad("probe-port", f"port {port}", what, fix)


def _both(who: Subject, leg: NicFacts, name: str) -> tuple[int, int] | None:
    """The values of `all` and of the device."""
    values = [who.facts.sysctls.get(_path(device, name)) for device in ("all", leg.name)]
    if values[0] is None or values[1] is None:
        return None
    return int(values[0]), int(values[1])


def _unread(leg: NicFacts, name: str) -> RouteFinding:
    look = f"sysctl {_path('all', name)} {_path(leg.name, name)}"
    return unknown(name, leg.name, "could not be read", look)


def _rp_filter(who: Subject, leg: NicFacts) -> RouteFinding:
    both = _both(who, leg, "rp_filter")
    if both is None:
        return _unread(leg, "rp_filter")
    of_all, own = both
    if max(both) != _STRICT:
        return good("rp_filter", leg.name, f"not strict (all {of_all}, {leg.name} {own})")
    what = f"strict (all {of_all}, {leg.name} {own}): while one side alone has switched, what "
    what += "comes by the other leg is dropped. 2 on the device wins over 1 of all"
    fix = f"sysctl -w {_path(leg.name, 'rp_filter')}=2   # `vas route apply` does it too"
    return bad("rp_filter", leg.name, what, fix)


def _arp_filter(who: Subject, leg: NicFacts) -> RouteFinding:
    both = _both(who, leg, "arp_filter")
    if both is None:
        return _unread(leg, "arp_filter")
    wrong = [d for d, value in zip(("all", leg.name), both, strict=True) if value]
    if not wrong:
        return good("arp_filter", leg.name, "off")
    what = "on: a request by this leg from a node that is reached by the other is not answered, "
    what += "so that a peer that has switched back finds nobody"
    fix = "\n".join(f"sysctl -w {_path(device, 'arp_filter')}=0" for device in wrong)
    return bad("arp_filter", leg.name, what, fix)


def _arp_ignore(who: Subject, leg: NicFacts) -> RouteFinding:
    """Checks the value together with the 1 that VAS sets on the device."""
    both = _both(who, leg, "arp_ignore")
    if both is None:
        return _unread(leg, "arp_ignore")
    applied = max(both[0], both[1], 1)
    if applied in _ANSWERS_FOR_ITSELF:
        return good("arp_ignore", leg.name, f"{applied} once VAS has set 1 on {leg.name}")
    if applied >= _SILENT:
        what = f"is {applied}: no request is answered, the node is not found"
    else:
        what = f"is {applied}: this leg also answers for the addresses of the other, and peers "
        what += "send there"
    return bad("arp_ignore", leg.name, f"{what}; 1 of VAS does not lower it", _lower(both, leg))


def _lower(both: tuple[int, int], leg: NicFacts) -> str:
    devices = zip(("all", leg.name), both, strict=True)
    wrong = (device for device, value in devices if value > _ANSWERS_FOR_ITSELF[-1])
    return "\n".join(f"sysctl -w {_path(device, 'arp_ignore')}=1" for device in wrong)


def _arp_announce(who: Subject, leg: NicFacts) -> RouteFinding:
    """Checks the value together with the 2 that VAS sets on the device. The kernel takes a
    greater one for 0."""
    both = _both(who, leg, "arp_announce")
    if both is None:
        return _unread(leg, "arp_announce")
    if max(both) <= _OWN_ADDRESS:
        return good("arp_announce", leg.name, f"2 once VAS has set it on {leg.name}")
    wrong = [d for d, v in zip(("all", leg.name), both, strict=True) if v > _OWN_ADDRESS]
    what = f"is {max(both)}, which the kernel takes for 0: this leg asks with the other's address, "
    what += "and peers learn a wrong MAC for it"
    fix = "\n".join(f"sysctl -w {_path(device, 'arp_announce')}=2" for device in wrong)
    return bad("arp_announce", leg.name, what, fix)


def _forwarding_ipv6(who: Subject) -> RouteFinding:
    """Before Linux 6.17 IPv6 is forwarded by all devices or by none."""
    check, leg = "ipv6-forwarding", who.sriov_name
    of_all = who.facts.sysctls.get(_path("all", "forwarding", 6))
    if _path(leg, "force_forwarding", 6) in who.facts.sysctls:
        return good(check, leg, "this kernel forwards by device: VAS sets it when it is needed")
    if of_all is None:
        look = f"sysctl {_path('all', 'forwarding', 6)}"
        return unknown(check, leg, "could not be read: IPv6 may be off in this kernel", look)
    if of_all != "0":
        return good(check, leg, "on for all devices")
    what = "off, and this kernel (before 6.17) has it for all devices or none: a guest whose VF is "
    what += "down is not carried by its host"
    fix = f"sysctl -w {_path('all', 'forwarding', 6)}=1\n# and accept_ra=2 on every device that "
    fix += "takes its routes from router advertisements: forwarding switches them off"
    return bad(check, leg, what, fix)
