"""The text of firewall rules, for sites whose machines have addresses of IPv4, IPv6 or both."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from machines import EXAMPLE, LOGIN, OSS, SITE

from vas_ansible.commands import provision
from vas_ansible.firewall import (
    node_firewalld,
    node_nftables,
    server_firewalld,
    server_nftables,
)
from vas_cluster import Cluster, Host
from vas_core.errors import BadInput
from vas_core.process import run

MIXED = {"192.0.2.112": "2001:db8::112", "192.0.2.12": "2001:db8::12"}
NEEDED = ("988/tcp", "293/udp")


@pytest.fixture
def mixed() -> Cluster:
    """The example site, of which one guest and one storage server have addresses of IPv6."""
    text = SITE.model_dump_json()
    for old, new in MIXED.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return Cluster.model_validate_json(text)


def server(cluster: Cluster) -> Host:
    host = cluster.host(OSS)
    assert host is not None
    return host


def test_each_rule_and_each_set_has_addresses_of_one_family(mixed: Cluster) -> None:
    text = server_nftables(mixed, server(mixed), NEEDED, ["192.0.2.9", "2001:db8::9"])
    assert "elements = { 192.0.2.111, 192.0.2.113, 192.0.2.114 }" in text
    assert "elements = { 2001:db8::112 }" in text
    assert "ip saddr @guests_ip goto from_guests" in text
    assert "ip6 saddr @guests_ip6 goto from_guests" in text
    assert "ip6 saddr 2001:db8::9 tcp dport { 9213, 9214 } accept" in text
    of_nodes = node_nftables(mixed).splitlines()
    assert [line.split()[6] for line in of_nodes] == ["ip", "ip6"]
    assert "2001:db8::12, 2001:db8::112" in of_nodes[1] and ":" not in of_nodes[0]


def test_of_one_family_there_is_one_set_and_one_rule() -> None:
    text = server_nftables(SITE, server(SITE), NEEDED, [])
    assert text.count("elements") == 1 and "ip6 saddr" not in text
    assert len(node_nftables(SITE).splitlines()) == 1


def test_firewalld_is_told_the_family_of_each_address(mixed: Cluster) -> None:
    nodes = node_firewalld(mixed).splitlines()
    assert next(line for line in nodes if "2001:db8::12 " in line).count("family=ipv6") == 1
    zone = server_firewalld(mixed, server(mixed), NEEDED, ["2001:db8::9"])
    assert "rule family=ipv6 source address=2001:db8::9" in zone
    assert "--add-source=2001:db8::112" in zone


def test_a_login_node_needs_no_rules(tmp_path: Path) -> None:
    clients = "\n  clients:\n    - {name: login1.hpc.example, address: 192.0.2.21}\n"
    text = EXAMPLE.read_text().replace("\nyarn:\n", f"\nyarn:{clients}", 1)
    (tmp_path / "cluster.yaml").write_text(text)
    words = ["--cluster", str(tmp_path / "cluster.yaml"), "--node", LOGIN]
    done = CliRunner().invoke(provision, ["firewall", *words])
    assert isinstance(done.exception, BadInput)
    assert str(done.exception).startswith(f"{LOGIN}: is a login node")


@pytest.mark.machine
@pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace needs root")
@pytest.mark.skipif(shutil.which("nft") is None, reason="no nftables here")
def test_the_kernel_takes_rules_for_both_families(mixed: Cluster) -> None:
    """The server's table, and the nodes' rules in a chain that drops everything else."""
    table = server_nftables(mixed, server(mixed), NEEDED, ["192.0.2.9", "2001:db8::9"])
    chain = "type filter hook input priority 0; policy drop;"
    site = f"table inet filter {{\nchain input {{\n{chain}\n}}\n}}"
    script = f"nft -f - <<'END'\n{table}{site}\nEND\n{node_nftables(mixed)}nft list ruleset\n"
    listed = run(["unshare", "-n", "sh", "-euc", script], timeout_seconds=30).stdout
    assert "ip6 saddr @guests_ip6 goto from_guests" in listed
    assert "ip6 saddr { 2001:db8::12, 2001:db8::112 } accept" in listed
