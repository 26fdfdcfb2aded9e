"""What the module `vas_facts` makes of what programs print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from modules import load

facts = load("modules/vas_facts.py")

# As `nft -j list ruleset` of nftables 1.0 prints it.
RULESET = """
{"nftables": [{"metainfo": {"version": "1.0.6", "json_schema_version": 1}},
 {"table": {"family": "inet", "name": "filter", "handle": 1}},
 {"chain": {"family": "inet", "table": "filter", "name": "input", "handle": 1, "type": "filter",
            "hook": "input", "prio": 0, "policy": "drop"}},
 {"chain": {"family": "inet", "table": "filter", "name": "output", "handle": 2, "type": "filter",
            "hook": "output", "prio": 0, "policy": "drop"}},
 {"chain": {"family": "inet", "table": "filter", "name": "forward", "handle": 3, "type": "filter",
            "hook": "forward", "prio": 0, "policy": "accept"}},
 {"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 4, "expr": [
   {"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": {"set": ["lo", "vf0"]}}},
   {"accept": null}]}},
 {"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 5, "expr": [
   {"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "eth9"}},
   {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 22}},
   {"accept": null}]}},
 {"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 6, "expr": [
   {"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "eth8"}},
   {"drop": null}]}}]}
"""


def test_chains_that_drop_and_what_they_let_in() -> None:
    (found,) = facts.chains_of_nft(json.loads(RULESET)["nftables"])
    assert found == {"name": "inet filter input", "hook": "input", "open": ["lo", "vf0"]} | {
        "ports": {"eth9": ["22/tcp"]},
        "sources": [],
    }


def test_the_same_of_iptables() -> None:
    rules = [
        *("-P INPUT DROP", "-P FORWARD ACCEPT", "-P OUTPUT ACCEPT", "-A INPUT -i vf0 -j ACCEPT"),
        "-A INPUT -i eth9 -p tcp -m tcp --dport 22 -j ACCEPT",
    ]
    (found,) = facts.chains_of_iptables("\n".join(rules))
    assert found == {"name": "ip filter INPUT", "hook": "input", "open": ["vf0"]} | {
        "ports": {"eth9": ["22/tcp"]},
        "sources": [],
    }


def test_what_the_kernel_does_with_planted_links_is_read(tmp_path: Path) -> None:
    (tmp_path / "protected_hardlinks").write_text("1\n")
    (tmp_path / "protected_symlinks").write_text("0\n")
    read = facts._link_protection(tmp_path)
    assert read == {"fs.protected_hardlinks": 1, "fs.protected_symlinks": 0}
    (tmp_path / "protected_symlinks").unlink()
    assert facts._link_protection(tmp_path)["fs.protected_symlinks"] is None


def test_a_file_that_is_not_there_is_its_directory_s(tmp_path: Path) -> None:
    there = facts._place(tmp_path)
    missing = facts._place(tmp_path / "a" / "b.qcow2")
    assert (there["there"], missing["there"]) == (True, False)
    assert missing["device"] == there["device"] == tmp_path.stat().st_dev
    assert missing["free_bytes"] > 0


def test_guests_of_vas_are_those_with_a_seed(tmp_path: Path) -> None:
    seeds, domains = tmp_path / "seed", tmp_path / "qemu"
    assert facts._guests(seeds, domains) == []
    for file in (seeds / "vm1.iso", seeds / "gone.iso", domains / "vm1.xml", domains / "own.xml"):
        file.parent.mkdir(exist_ok=True)
        file.touch()
    assert facts._guests(seeds, domains) == ["vm1"]


class Module:
    """Ansible's module, before which `ss` prints."""

    def run_command(self, argv: list[str], **_: Any) -> tuple[int, str, str]:
        assert argv[-2:] == ["ss", "-Hltn"] and argv[0] == "timeout"
        lines = "LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\nLISTEN 0 50 *:8088 *:*\n"
        lines += "LISTEN 0 128 127.0.0.53%lo:53 0.0.0.0:*\nLISTEN 0 128 [::1]:25 [::]:*\n"
        return 0, lines + "LISTEN 0 128 [::]:22 [::]:*\n", ""


def test_ports_that_are_listened_on() -> None:
    found = facts._listening(Module())
    assert {port for _, port in found} == {22, 25, 53, 8088}
    assert facts.exposed(found) == [22, 8088]


class Firewalld:
    """Ansible's module, before a firewalld that has no interface in a zone of its own."""

    params: ClassVar = {"interfaces": ["vasbr0"]}

    def run_command(self, argv: list[str], **_: Any) -> tuple[int, str, str]:
        said = {"--get-default-zone": "public", "--get-target": "default"}
        return 0, said.get(argv[-1], "") + "\n", ""


def test_an_interface_to_be_made_is_in_the_default_zone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "class/net/eth0").mkdir(parents=True)
    monkeypatch.setattr(facts, "_SYS", tmp_path)
    monkeypatch.setattr(facts.shutil, "which", lambda name: f"/usr/bin/{name}")
    zones = facts._zones(Firewalld())
    assert (zones["vasbr0"]["zone"], zones["vasbr0"]["target"]) == ("public", "default")
    assert sorted(zones) == ["eth0", "vasbr0"]


class NoAddresses:
    """Ansible's module, before an `ip` that knows nothing."""

    def run_command(self, argv: list[str], **_: Any) -> tuple[int, str, str]:
        return 0, "[]", ""


def test_an_interface_has_its_mac(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    eth0 = tmp_path / "class/net/eth0"
    eth0.mkdir(parents=True)
    (eth0 / "mtu").write_text("1500\n")
    (eth0 / "address").write_text("52:54:00:77:01:02\n")
    monkeypatch.setattr(facts, "_SYS", tmp_path)
    assert facts._interfaces(NoAddresses())["eth0"]["mac"] == "52:54:00:77:01:02"


def rule(*matches: tuple[dict[str, Any], Any], verdict: str = "accept") -> dict[str, Any]:
    asked = [{"match": {"op": "==", "left": left, "right": right}} for left, right in matches]
    keys = {"family": "inet", "table": "filter", "chain": "input"}
    return {"rule": {**keys, "expr": [*asked, {verdict: None}]}}


def test_S3_ports_and_sources_that_rules_let_in() -> None:
    port: Any = {"payload": {"protocol": "tcp", "field": "dport"}}
    source: Any = {"payload": {"protocol": "ip", "field": "saddr"}}
    new = ({"ct": {"key": "state"}}, {"set": ["new"]})
    network = {"prefix": {"addr": "192.0.2.0", "len": 24}}
    chain = {
        "hook": "input",
        "policy": "drop",
        "family": "inet",
        "table": "filter",
        "name": "input",
    }
    rules = [
        rule((port, {"set": [988, {"range": [9213, 9214]}]}), new),
        rule((source, network)),
        rule((port, 22), verdict="drop"),
        rule(({"meta": {"key": "mark"}}, 7), (port, 111)),
        rule(({"ct": {"key": "state"}}, {"set": ["established"]})),
    ]
    (found,) = facts.chains_of_nft([{"chain": chain}, *rules])
    assert found["ports"] == {"*": ["988/tcp", "9213-9214/tcp"]}
    assert found["sources"] == ["192.0.2.0/24"] and found["open"] == []


@pytest.mark.parametrize(
    ("rich", "ports", "sources"),
    [
        ('rule port port="988" protocol="tcp" accept', ["988/tcp"], []),
        ('rule family="ipv4" source address="10.0.0.1" accept', [], ["10.0.0.1"]),
        ('rule family="ipv4" source address="10.0.0.1" reject', [], []),
        ('rule port port="988" protocol="tcp" drop', [], []),
    ],
)
def test_S3_rich_rules_of_firewalld(rich: str, ports: list[str], sources: list[str]) -> None:
    assert facts.port_of_rich_rule(rich) == ports
    assert facts.source_of_rich_rule(rich) == sources


# As `lctl get_param` of Lustre 2.15 prints them.
LCTL = """nodemap.active=1
nodemap.default.admin_nodemap=1
nodemap.vas_guests.admin_nodemap=0
nodemap.default.ranges=
[

]
nodemap.vas_guests.ranges=
[
 { id: 1, start_nid: 192.0.2.111@tcp, end_nid: 192.0.2.114@tcp },
 { id: 2, start_nid: 192.0.2.120@tcp, end_nid: 192.0.2.120@tcp }
]
mdt.scratch-MDT0000.enable_remote_dir_gid=0
mdt.scratch-MDT0001.enable_remote_dir_gid=-1
"""


def test_S3_R3_what_a_server_of_lustre_says_is_read() -> None:
    found = facts.server_of_lctl(LCTL)
    assert found["nodemaps_active"] is True
    assert found["nodemaps"]["default"] == {"admin": True, "ranges": []}
    assert found["nodemaps"]["vas_guests"]["admin"] is False
    first, second = found["nodemaps"]["vas_guests"]["ranges"]
    assert first == ("192.0.2.111@tcp", "192.0.2.114@tcp")
    assert second == ("192.0.2.120@tcp", "192.0.2.120@tcp")
    assert found["remote_dir_gid"] == {"scratch-MDT0000": 0, "scratch-MDT0001": -1}
    nothing = {"nodemaps_active": False, "nodemaps": {}, "remote_dir_gid": {}}
    assert facts.server_of_lctl("") == nothing
