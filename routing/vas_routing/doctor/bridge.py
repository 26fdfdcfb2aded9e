"""Checks the host-only bridge: its network is VAS's alone, and nothing delays or filters its
frames."""

from __future__ import annotations

from collections.abc import Iterator

from vas_routing.doctor.facts import NicFacts
from vas_routing.doctor.finding import RouteFinding, bad, good
from vas_routing.doctor.subject import Subject

_CALLS = {4: "bridge-nf-call-iptables", 6: "bridge-nf-call-ip6tables"}


def examine_bridge(who: Subject) -> Iterator[RouteFinding]:
    """Yields the findings on the bridge's network, and on a host those on the bridge itself."""
    yield from _network(who)
    yield from _owners(who)
    if who.guest is None and who.virtio:
        yield from _spanning_tree(who.virtio)
        yield from _netfilter(who, who.virtio)


def _network(who: Subject) -> Iterator[RouteFinding]:
    """Link-local IPv6 is on every device: there only an address of a peer on our leg is wrong."""
    wrong = [
        (nic, own)
        for nic in who.facts.nics.values()
        for own in nic.addresses
        if (nic is who.virtio and own.ip in who.hops and own.ip != who.hop.ip)
        or (nic is not who.virtio and who.version == 4 and own.ip in who.hop.network)
    ]
    if not wrong:
        yield good("bridge-network", who.virtio_name, f"{who.hop.network} is used nowhere else")
    for nic, own in wrong:
        owner = who.hops.get(own.ip)
        whose = f"{own} belongs to {owner}" if owner else f"{own} is in the bridge's network"
        what = f"{whose}: next hops are looked for on {nic.name}, or answered twice"
        yield bad("bridge-network", nic.name, what, f"ip address del {own} dev {nic.name}")


def _owners(who: Subject) -> Iterator[RouteFinding]:
    """The map knows the MACs of guests; of a bridge it does not."""
    macs = {guest.name: guest.macs.virtio for guest in who.host.guests}
    for seen in who.facts.neighbours:
        owner = who.hops.get(seen.address)
        if seen.device != who.virtio_name or owner not in macs or seen.mac == macs[owner]:
            continue
        what = f"{seen.address} belongs to {owner} ({macs[owner]}), but {seen.mac} answers for it"
        fix = f"bridge fdb show br {who.host.nics.bridge} | grep {seen.mac}   # that port's guest "
        fix += f"has {owner}'s address; then: ip neigh flush dev {seen.device}"
        yield bad("bridge-network", seen.device, what, fix)


def _spanning_tree(bridge: NicFacts) -> Iterator[RouteFinding]:
    if bridge.bridge is None:
        what = "is not a bridge: guests cannot be attached to it"
        fix = f"ip link add NAME type bridge   # and let the map name it, not {bridge.name}"
        yield bad("bridge-stp", bridge.name, what, fix)
    elif bridge.bridge.stp:
        # net/bridge/br_stp_if.c: listening, then learning, each for forward_delay.
        seconds = 2 * bridge.bridge.forward_delay_seconds
        what = f"runs the spanning tree: a guest that starts is cut off for {seconds:g} s, and a "
        what += "loop elsewhere can block its port for ever"
        # In one command the delay is set first, and refused (ERANGE) while the tree runs.
        order = f"ip link set dev {bridge.name} type bridge"
        fix = f"{order} stp_state 0\n{order} forward_delay 0\n"
        fix += f"# in libvirt's network: <bridge name='{bridge.name}' stp='off' delay='0'/>"
        yield bad("bridge-stp", bridge.name, what, fix)
    else:
        yield good("bridge-stp", bridge.name, "forwards at once: no spanning tree")


def _netfilter(who: Subject, bridge: NicFacts) -> Iterator[RouteFinding]:
    name = f"net/bridge/{_CALLS[who.version]}"
    of_bridge = bridge.bridge and (
        bridge.bridge.calls_iptables if who.version == 4 else bridge.bridge.calls_ip6tables
    )
    if who.facts.sysctls.get(name, "0") == "0" and not of_bridge:
        yield good("bridge-netfilter", bridge.name, "frames do not pass the IP firewall")
        return
    what = "frames between guests pass the IP firewall's FORWARD chain: slower, and dropped where "
    what += "its policy is to drop"
    commands = [f"sysctl -w {name}=0"] if who.facts.sysctls.get(name, "0") != "0" else []
    if of_bridge:
        word = "nf_call_iptables" if who.version == 4 else "nf_call_ip6tables"
        commands.append(f"ip link set dev {bridge.name} type bridge {word} 0")
    family = "iptables" if who.version == 4 else "ip6tables"
    commands.append(f"# where Docker or Kubernetes need it: {family} -I FORWARD ")
    commands[-1] += f"-i {bridge.name} -o {bridge.name} -j ACCEPT"
    yield bad("bridge-netfilter", bridge.name, what, "\n".join(commands))
