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
    assert found == {"name": "inet filter input", "hook": "input", "open": ["lo", "vf0"]}


def test_the_same_of_iptables() -> None:
    rules = [
        *("-P INPUT DROP", "-P FORWARD ACCEPT", "-P OUTPUT ACCEPT", "-A INPUT -i vf0 -j ACCEPT"),
        "-A INPUT -i eth9 -p tcp -m tcp --dport 22 -j ACCEPT",
    ]
    (found,) = facts.chains_of_iptables("\n".join(rules))
    assert found == {"name": "ip filter INPUT", "hook": "input", "open": ["vf0"]}


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
        assert argv == ["ss", "-Hltn"]
        lines = "LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\nLISTEN 0 50 *:8088 *:*\n"
        return 0, lines + "LISTEN 0 128 [::]:22 [::]:*\n", ""


def test_ports_that_are_listened_on() -> None:
    assert facts._listening(Module()) == [22, 8088]


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
    assert zones["vasbr0"] == {"zone": "public", "target": "default"}
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
