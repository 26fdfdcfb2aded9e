"""Checks of a machine's legs, names, ports and firewall before any change."""

from __future__ import annotations

from typing import Any

import pytest
from machines import GIB, GUEST, MANAGER, NEEDED, OSS, SITE, chain, checks, guest, host, manager

from vas_ansible.checks import MachineFacts, examine_machine, fabric_mtus
from vas_ansible.checks.network import fabric
from vas_routing.settings import RouteSettings


def test_legs_on_the_data_fabric_take_packets_of_one_length() -> None:
    short = {"ens1f0": {"mtu": 1500, "addresses": ["192.0.2.12"], "vfs_total": 8}}
    known = {OSS: host(), "oss02.hpc.example": host(interfaces=short), "yarn-rm": host()}
    mtus = fabric_mtus(SITE, known)
    assert mtus == {OSS: 9000, "oss02.hpc.example": 1500}
    assert checks(host(), mtus=mtus) == []
    facts = host(hostname="oss02", interfaces=short)
    (found,) = examine_machine(SITE, "oss02.hpc.example", facts, {"mtus": mtus})
    assert (found.check, found.what) == (
        "mtu",
        f"its leg on the data fabric takes 1500 bytes, and {OSS}'s 9000",
    )


@pytest.mark.parametrize(
    ("mtus", "wrong"),
    [
        ([9000, 1500, 1500, 1500], "oss01.hpc.example"),
        ([1500, 1500, 1500, 9000], "oss04.hpc.example"),
    ],
)
def test_of_servers_the_odd_one_is_named(mtus: list[int], wrong: str) -> None:
    legs = dict(zip((one.name for one in SITE.hosts), mtus, strict=True))
    named = [one.name for one in SITE.hosts if [*fabric(SITE, one.name, legs)]]
    assert named == [wrong]


@pytest.mark.parametrize("mtu", [1500, 9000])
def test_a_guest_s_leg_is_held_to_its_server_s(mtu: int) -> None:
    assert not [*fabric(SITE, GUEST, {OSS: mtu, GUEST: mtu})]
    (found,) = fabric(SITE, GUEST, {OSS: mtu, GUEST: 4000})
    assert found.what == f"its leg on the data fabric takes 4000 bytes, and {OSS}'s {mtu}"
    assert "vas_guest_settings.mtu" in found.fix


@pytest.mark.parametrize(
    ("firewall", "wrong"),
    [
        ({"zones": {"ens1f0": {"zone": "public", "target": "default"}}}, ["firewall"]),
        ({"zones": {"ens1f0": {"zone": "public", "target": "default", "ports": NEEDED}}}, []),
        ({"chains": [{**chain("input"), "ports": {"*": NEEDED}}]}, []),
        ({"chains": [{**chain("input"), "ports": {"ens1f0": NEEDED}}]}, ["firewall"]),
        ({"zones": {"ens1f0": {"zone": "trusted", "target": "ACCEPT"}}}, []),
        ({"zones": {"eno1": {"zone": "public", "target": "default"}}}, []),
        ({"chains": [chain("input")]}, ["firewall"]),
        ({"chains": [chain("input", "ens1f0")]}, ["firewall"]),  # the bridge to come is left out
        ({"chains": [chain("input", "ens1f0", "vasbr0")]}, []),
        ({"zones": {"vasbr0": {"zone": "public", "target": "default"}}}, ["firewall"]),
        ({"zones": {"vasbr0": {"zone": "trusted", "target": "ACCEPT"}}}, []),
        ({"chains": [chain("forward")]}, []),
        ({"chains": [chain("forward")], "bridges_filtered": True}, ["firewall"]),
        ({"chains": [chain("forward", name="bridge filter x")]}, ["firewall"]),
        ({"chains": [chain("forward", "vasbr0")], "bridges_filtered": True}, []),
    ],
)
def test_a_firewall_that_is_in_the_way_is_named(firewall: dict[str, Any], wrong: list[str]) -> None:
    assert checks(host(firewall=firewall)) == wrong


def test_without_names_of_vas_every_name_has_to_have_an_address() -> None:
    names = {node: [address] for node, address in _addresses().items()}
    given = {"vas_guest_base_hosts": False}
    assert checks(manager(names=names), MANAGER, **given) == []
    found = examine_machine(SITE, MANAGER, manager(names={**names, OSS: []}), given)
    assert [finding.what for finding in found] == [f"{OSS} has no address here"]


@pytest.mark.parametrize("address", ["127.0.1.1", "::1"])
def test_daemons_do_not_listen_at_a_name_of_their_own_that_nobody_reaches(address: str) -> None:
    names = {MANAGER: [address, "192.0.2.5"]}
    (found,) = examine_machine(SITE, MANAGER, manager(names=names), {})
    assert found.check == "dns" and f"its own name is {address} here" in found.what
    assert "/etc/hosts" in found.fix
    assert checks(guest(names={GUEST: ["192.0.2.111", address]}), GUEST) == ["dns"]
    assert checks(manager(names={MANAGER: ["192.0.2.5"], GUEST: [address]}), MANAGER) == []


def test_a_storage_server_may_have_a_name_of_its_own_that_nobody_reaches() -> None:
    assert checks(host(names={OSS: ["127.0.1.1"]})) == []
    assert checks(host(names={OSS: ["127.0.1.1", "10.9.9.9"]})) == ["dns"]
    assert checks(host(names={GUEST: ["127.0.1.1"]})) == ["dns"]


def _addresses() -> dict[str, str]:
    return {node.name: node.address for node in (*SITE.hosts, *SITE.guests())}


def test_a_bridge_in_place_of_virtual_functions_has_to_be_there() -> None:
    settings = {"vas_guest_settings": {"virtual_function": False, "fabric_bridge": "fabric0"}}
    assert checks(host(), **settings) == ["fabric_bridge"]
    assert checks(host(interfaces={"fabric0": {"mtu": 9000}}), **settings) == []


def test_a_guest_s_virtio_leg_is_found_by_its_mac() -> None:
    mac = SITE.guest(GUEST).macs.virtio
    legs = guest().model_dump()["interfaces"]
    del legs["virtio0"]

    def called(mtu: int, **more: Any) -> MachineFacts:
        interfaces = legs | {"enp2s0": {"mtu": mtu, "mac": mac}}
        return host(
            **{"hostname": "vas01", "memory_bytes": 62 * GIB, "interfaces": interfaces, **more}
        )

    assert checks(called(9000), GUEST) == []
    assert checks(called(1500), GUEST) == ["mtu"]
    shut = {"zones": {"enp2s0": {"zone": "public", "target": "default"}}}
    assert checks(called(9000, firewall=shut), GUEST) == ["firewall"]


def test_a_bridge_of_vass_own_gets_its_mtu_by_its_role() -> None:
    assert checks(host(interfaces={"vasbr0": {"mtu": 1500, "group": 213}})) == []


@pytest.mark.parametrize(
    "firewall",
    [
        {"zones": {"vasbr0": {"zone": "public", "target": "default"}}},
        {"chains": [chain("input")]},
    ],
)
def test_S3_a_server_is_told_to_open_two_ports_and_nothing_more(firewall: dict[str, Any]) -> None:
    (found,) = examine_machine(SITE, OSS, host(firewall=firewall), {})
    assert "988/tcp" in found.what and f"{RouteSettings().probe_port}/udp" in found.what
    assert "trusted" not in found.fix and "iifname" not in found.fix
    other = {"vas_route_switcher_settings": {"probe_port": 777}}
    (found,) = examine_machine(SITE, OSS, host(firewall=firewall), other)
    assert "777/udp" in found.what


OPEN = {"zone": "trusted", "target": "ACCEPT"}


@pytest.mark.parametrize(
    ("firewall", "named"),
    [
        ({}, True),
        ({"zones": {"vasbr0": OPEN}}, True),
        ({"zones": {"vasbr0": {**OPEN, "target": "DROP", "ports": NEEDED}}}, False),
        ({"chains": [{**chain("input"), "ports": {"*": NEEDED}}]}, False),
        ({"chains": [chain("input", "vasbr0", "ens1f0")]}, True),
        ({"guest_rules": True}, False),
    ],
)
def test_S3_what_guests_reach_for_nothing_is_a_warning(
    firewall: dict[str, Any], named: bool
) -> None:
    """The rule set's ports are no such, and without guests nobody is there to reach them."""
    facts = host(exposed=[22, 111, 988, 16509], firewall=firewall)
    warned = [one for one in examine_machine(SITE, OSS, facts, {}) if one.warns]
    assert [one.check for one in warned] == ["exposed"] * named
    for one in warned:
        assert "22 (sshd), 111 (rpcbind), 16509 (libvirtd)" in one.what
        assert f"vas provision firewall --node {OSS}" in one.fix


def test_S3_guests_let_the_map_s_nodes_in_not_everybody() -> None:
    zone = {"zone": "public", "target": "default"}

    def found(*sources: str) -> list[str]:
        legs = {"ens1f0v0": {**zone, "sources": sources}, "virtio0": {**zone, "sources": sources}}
        read = MachineFacts.model_validate(
            host().model_dump() | {"firewall": {"zones": legs}}
        ).firewall
        return [f.fix for f in examine_machine(SITE, GUEST, guest(firewall=read), {})]

    def behind_nft(*sources: str) -> list[str]:
        rules = {"chains": [{**chain("input"), "sources": sources}]}
        read = MachineFacts.model_validate(host().model_dump() | {"firewall": rules}).firewall
        return [f.fix for f in examine_machine(SITE, GUEST, guest(firewall=read), {})]

    assert behind_nft("192.0.2.0/24") == []
    assert len(behind_nft("192.0.2.11")) == len(behind_nft()) == 1
    assert found("192.0.2.0/24") == []
    assert len(found("192.0.2.11")) == 2
    assert all("trusted" not in fix and "vas provision firewall" in fix for fix in found())


@pytest.mark.parametrize(
    ("family", "sources", "wrong"),
    [
        ("ip", ["192.0.2.0/24"], []),
        ("ip", [], ["firewall"]),
        ("ip6", [], []),
        ("inet", ["192.0.2.0/24"], []),
        ("inet", ["2001:db8::/64"], ["firewall"]),
    ],
)
def test_a_chain_of_one_family_of_addresses_stops_only_that_family(
    family: str, sources: list[str], wrong: list[str]
) -> None:
    """The map's addresses are of IPv4, so a chain of the family ip6 sees none of their packets."""
    shut = {"chains": [{**chain("input", name=f"{family} filter INPUT"), "sources": sources}]}
    facts = MachineFacts.model_validate(guest().model_dump() | {"firewall": shut})
    assert checks(facts, GUEST) == wrong
    server = {"chains": [chain("input", name="ip6 filter INPUT")]}
    assert checks(host(firewall=server)) == []
