"""Generates firewall rules of a site's machines from the map. Pure: text for nft or firewall-cmd.

Guests run users' code. A storage server lets them reach Lustre's port and the route probes', and
drops all else that comes from them; guests and the ResourceManager let the map's nodes in.
"""

from __future__ import annotations

from collections.abc import Sequence

from vas_ansible.checks.firewall import nodes_of
from vas_cluster import Cluster, Host

_METRICS = "9213, 9214"
# Of one family: its name, and its guests' addresses.
_SET = """    set guests_{0} {{
        typeof {0} saddr
        elements = {{ {1} }}
    }}"""


def server_nftables(
    cluster: Cluster, host: Host, needed: Sequence[str], monitoring: Sequence[str]
) -> str:
    """Returns a table of a storage server for `nft -f`; it replaces only an earlier one of VAS.

    `needed`: ports as PORT/PROTOCOL; `monitoring`: addresses of machines that may read metrics.
    A packet that this table accepts must also pass the server's own rules.
    """
    let_in = [f"{protocol} dport {port} accept" for port, _, protocol in _split(needed)]
    let_in += [
        f"{_family(one)} saddr {one} tcp dport {{ {_METRICS} }} accept" for one in monitoring
    ]
    lines = "\n".join(f"        {line}" for line in let_in)
    families = _by_family([guest.address for guest in cluster.guests()])
    sets = "\n".join(_SET.format(family, ", ".join(own)) for family, own in families)
    sources = "\n".join(
        f"        {family} saddr @guests_{family} goto from_guests" for family, _ in families
    )
    return f"""#!/usr/sbin/nft -f
# What guests may reach of {host.name}: `vas provision firewall`.
add table inet vas_guests
delete table inet vas_guests
table inet vas_guests {{
{sets}
    chain input {{
        type filter hook input priority -5; policy accept;
        iifname "{host.nics.bridge}" goto from_guests
{sources}
    }}
    chain from_guests {{
        ct state established,related accept
        icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} accept
{lines}
        counter drop
    }}
}}
"""


def server_firewalld(
    cluster: Cluster, host: Host, needed: Sequence[str], monitoring: Sequence[str]
) -> str:
    """Returns firewalld commands that put guests (their bridge and addresses) into a zone.

    `needed`: ports as PORT/PROTOCOL; `monitoring`: addresses of machines that may read metrics.
    """
    zone = "firewall-cmd --permanent --zone=vas-guests"
    ports = [f"--add-port={port}" for port in needed]
    sources = [f"--add-source={guest.address}" for guest in cluster.guests()]
    rules = [
        f"--add-rich-rule='rule family={_version(one)} source address={one}"
        " port port=9213-9214 protocol=tcp accept'"
        for one in monitoring
    ]
    words = [["--set-target=DROP"], [f"--add-interface={host.nics.bridge}"], sources, ports, rules]
    lines = [f"{zone} {word}" for group in words for word in group]
    pf = f'firewall-cmd --permanent --zone="$(firewall-cmd --get-zone-of-interface={host.nics.pf})"'
    lines += [f"{pf} {port}" for port in ports]
    new = "firewall-cmd --permanent --new-zone=vas-guests"
    return "\n".join([new, *lines, "firewall-cmd --reload"]) + "\n"


def node_nftables(cluster: Cluster) -> str:
    """Returns nft commands by which a guest or ResourceManager accepts the map's nodes.

    There is one for each family of addresses.
    """
    rules = (
        f"nft insert rule inet filter input {family} saddr '{{ {', '.join(own)} }}' accept\n"
        for family, own in _by_family(nodes_of(cluster))
    )
    return "".join(rules)


def node_firewalld(cluster: Cluster) -> str:
    """Returns firewalld commands by which a guest or ResourceManager accepts the map's nodes."""
    rules = [
        f"firewall-cmd --permanent --add-rich-rule='rule family={_version(node)}"
        f" source address={node} accept'"
        for node in nodes_of(cluster)
    ]
    return "\n".join([*rules, "firewall-cmd --reload"]) + "\n"


def _by_family(addresses: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The addresses of IPv4 and those of IPv6: nft takes one family in a set or rule."""
    found = [(family, [a for a in addresses if _family(a) == family]) for family in ("ip", "ip6")]
    return [(family, own) for family, own in found if own]


def _family(address: str) -> str:
    return "ip6" if ":" in address else "ip"


def _version(address: str) -> str:
    return "ipv6" if ":" in address else "ipv4"


def _split(needed: Sequence[str]) -> list[tuple[str, str, str]]:
    return [port.partition("/") for port in needed]
