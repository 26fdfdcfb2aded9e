"""Checks a machine's firewall for traffic that it blocks wrongly or accepts needlessly.

Guests run users' code: a storage server lets them reach the ports of Lustre and of the route
probes, and nothing else. Guests and the ResourceManager accept all packets from the map's nodes, as
YARN's programs listen on ports that are not fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from vas_ansible.checks.facts import Chain, MachineFacts
from vas_ansible.checks.finding import CheckFinding
from vas_cluster import Cluster, Host
from vas_routing.settings import RouteSettings

# firewalld's word for a zone that takes everything.
_OPEN = "ACCEPT"
LNET = "988/tcp"
"""The port of LNet's acceptor (socklnd); RDMA passes by the firewall."""
_KNOWN = {22: "sshd", 111: "rpcbind", 2049: "NFS", 5900: "VNC", 9213: "metrics", 9214: "metrics"}
_KNOWN |= {16509: "libvirtd", 16514: "libvirtd"}


def needed_ports(host: Host, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the ports of a storage server that its guests need, each as PORT/PROTOCOL.

    `settings`: the inventory's variables; only `vas_route_switcher_settings` is read.
    """
    given = dict(settings.get("vas_route_switcher_settings") or {})
    probes = RouteSettings.model_validate(given).probe_port
    lnet = (LNET,) if any("@tcp" in nid for nid in host.nids) else ()
    return (*lnet, f"{probes}/udp")


def nodes_of(cluster: Cluster) -> list[str]:
    """Returns the addresses of all the map's machines, login nodes included, in the map's order."""
    found = [host.address for host in cluster.hosts]
    found += [guest.address for guest in cluster.guests()]
    manager = cluster.resourcemanager_address
    found += [] if manager in found else [manager]
    return found + [client.address for client in cluster.yarn.clients]


def server_firewall(
    host: Host, facts: MachineFacts, needed: Sequence[str]
) -> Iterator[CheckFinding]:
    """Finds ports of `needed_ports` that a leg's firewall, firewalld or nft, does not let in."""
    bridge = host.nics.bridge
    here = [leg for leg in (host.nics.pf, bridge) if leg in facts.interfaces or leg == bridge]
    for leg in here:
        zone = facts.firewall.zones.get(leg)
        shut = [port for port in needed if zone and not _has(zone.ports, port)]
        if zone and zone.target != _OPEN and shut:
            what = f"firewalld has {leg} in the zone {zone.zone}, which does not let in "
            adding = " ".join(f"--add-port={port}" for port in shut)
            fix = f"firewall-cmd --permanent --zone={zone.zone} {adding}; firewall-cmd --reload"
            yield CheckFinding(host.name, "firewall", what + ", ".join(shut), fix)
    for chain in _chains(facts, "input", [guest.address for guest in host.guests]):
        shut = [port for port in needed if any(not _lets_in(chain, leg, port) for leg in here)]
        if shut:
            what = f"the chain {chain.name} drops {', '.join(shut)} from {' or '.join(here)}"
            rules = [f"nft insert rule {chain.name} {_match(port)} accept" for port in shut]
            fix = "; ".join(rules) + "; if other rules let them in, accept the check `firewall`"
            yield CheckFinding(host.name, "firewall", what, fix)
    yield from _bridged(host.name, facts, bridge)


def node_firewall(
    node: str, facts: MachineFacts, legs: Sequence[str], nodes: Sequence[str]
) -> Iterator[CheckFinding]:
    """Finds legs of a guest or the ResourceManager that block packets of the map's `nodes`."""
    fix = f"let in the map's nodes: `vas provision firewall --node {node}` prints the rules"
    here = [leg for leg in legs if leg in facts.interfaces]
    for leg in here:
        zone = facts.firewall.zones.get(leg)
        if zone and zone.target != _OPEN and not _cover(zone.sources, nodes):
            what = f"firewalld has {leg} in the zone {zone.zone}, which keeps other nodes out"
            yield CheckFinding(node, "firewall", what, fix)
    for chain in _chains(facts, "input", nodes):
        shut = [leg for leg in here if leg not in chain.open]
        if shut and not _cover(chain.sources, _of_family(chain, nodes)):
            what = f"the chain {chain.name} drops what comes from other nodes by {', '.join(shut)}"
            yield CheckFinding(
                node, "firewall", what, fix + "; if others let it in, accept the check `firewall`"
            )


def exposed(host: Host, facts: MachineFacts, needed: Sequence[str]) -> Iterator[CheckFinding]:
    """Warns of open ports that guests, where users' code runs, reach without need."""
    open_ports = [port for port in facts.exposed if f"{port}/tcp" not in needed]
    if facts.firewall.guest_rules or not host.guests:
        return
    bridge = host.nics.bridge
    zone = facts.firewall.zones.get(bridge)
    if zone and zone.target != _OPEN:
        open_ports = [port for port in open_ports if _has(zone.ports, f"{port}/tcp")]
    for chain in _chains(facts, "input"):
        open_ports = [port for port in open_ports if _lets_in(chain, bridge, f"{port}/tcp")]
    if open_ports:
        named = (f"{port} ({_KNOWN[port]})" if port in _KNOWN else str(port) for port in open_ports)
        what = f"guests, which run users' code, reach {', '.join(named)} by {bridge} and its PF"
        fix = f"they need {', '.join(needed)}: `vas provision firewall --node {host.name}` prints"
        yield CheckFinding(host.name, "exposed", what, fix + " the rules", warns=True)


def _chains(facts: MachineFacts, hook: str, senders: Sequence[str] | None = None) -> list[Chain]:
    """Chains that drop by default; where firewalld is, its zones say what counts.

    `senders`: addresses; a chain of the family ip or ip6 counts if one of them is of that family.
    """
    dropping = [c for c in facts.firewall.chains if c.hook == hook and not facts.firewall.zones]
    return [c for c in dropping if not senders or _of_family(c, senders)]


def _of_family(chain: Chain, addresses: Sequence[str]) -> list[str]:
    """The addresses whose packets a chain sees: of a family but ip and ip6, it sees all packets."""
    version = {"ip": 4, "ip6": 6}.get(chain.name.partition(" ")[0])
    return [a for a in addresses if version in (None, ip_address(a).version)]


def _lets_in(chain: Chain, leg: str, port: str) -> bool:
    ports = [*chain.ports.get("*", ()), *chain.ports.get(leg, ())]
    return leg in chain.open or _has(ports, port)


def _has(ports: Sequence[str], wanted: str) -> bool:
    """Whether PORT/PROTOCOL is among ports and ranges, FIRST-LAST/PROTOCOL."""
    number, _, protocol = wanted.partition("/")
    for each in ports:
        first, _, last = each.partition("/")[0].partition("-")
        if each.endswith("/" + protocol) and int(first) <= int(number) <= int(last or first):
            return True
    return False


def _bridged(node: str, facts: MachineFacts, bridge: str) -> Iterator[CheckFinding]:
    """Chains that packets from guest to guest go through."""
    for chain in _chains(facts, "forward"):
        through = chain.name.startswith("bridge ") or facts.firewall.bridges_filtered
        if through and bridge not in chain.open:
            what = f"the chain {chain.name} drops what guests of {bridge} send one another"
            fix = "sysctl net.bridge.bridge-nf-call-iptables=0, or let that bridge through"
            yield CheckFinding(node, "firewall", what, fix)


def _match(port: str) -> str:
    number, _, protocol = port.partition("/")
    return f"{protocol} dport {number}"


def _cover(networks: Sequence[str], nodes: Sequence[str]) -> bool:
    """Whether every address is in one of the networks."""
    known = [ip_network(network, strict=False) for network in networks]
    return all(any(ip_address(node) in network for network in known) for node in nodes)
