"""The doctor on what others have put there: rules and routes, firewalls, network managers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from doctor_facts import findings, healthy, one_bad, with_sysctl
from site_map import site

from vas_routing.doctor import examine
from vas_routing.doctor.facts import (
    FirewallState,
    ForwardChain,
    Managed,
    SeenRoute,
    SeenRule,
)
from vas_routing.settings import RouteSettings

LOCAL = SeenRule(version=4, priority=0, table=255, protocol=2)
OURS = SeenRule(version=4, priority=0, table=213, protocol=213)


def test_rules_of_the_kernel_and_of_vas_are_nobody_elses() -> None:
    vrf = SeenRule(version=4, priority=1000, table=0, protocol=2, l3mdev=True)
    later = SeenRule(version=4, priority=2000, table=99, protocol=3)
    other_ip = SeenRule(version=6, priority=10, table=99, protocol=3)
    facts = replace(healthy("vm1"), rules=(LOCAL, OURS, vrf, later, other_ip))
    assert all(f.ok for f in findings(facts, "vm1", "rule-order"))


def test_a_rule_of_others_in_front() -> None:
    theirs = SeenRule(version=4, priority=0, table=99, protocol=3)
    found = one_bad(replace(healthy("vm1"), rules=(LOCAL, theirs, OURS)), "vm1", "rule-order")
    assert found.fix.startswith("ip -4 rule del pref 0 table 99 ")


def test_of_one_priority_the_kernels_order_counts() -> None:
    theirs = SeenRule(version=4, priority=0, table=99, protocol=3)
    facts = replace(healthy("vm1"), rules=(LOCAL, OURS, theirs))
    assert findings(facts, "vm1", "rule-order")[0].ok
    one_bad(replace(facts, rules=(LOCAL, theirs)), "vm1", "rule-order")


def test_our_table_used_by_others() -> None:
    theirs = SeenRule(version=4, priority=5000, table=213, protocol=3)
    one_bad(replace(healthy("vm1"), rules=(theirs,)), "vm1", "table")
    route = SeenRoute(version=4, destination="default", device="eth1", table=213, protocol=4)
    found = one_bad(replace(healthy("vm1"), routes=(route,)), "vm1", "table")
    assert found.fix.startswith("ip -4 route del default dev eth1 table 213 proto 4 ")


def test_our_protocol_used_by_others() -> None:
    kind: dict[str, Any] = {"version": 4, "destination": "10.77.0.0/24", "protocol": 213}
    ours = (
        SeenRoute(device="virtio0", table=213, **kind),
        SeenRoute(device="virtio0", table=254, metric=2000, **kind),
    )
    assert findings(replace(healthy("vm1"), routes=ours), "vm1", "protocol")[0].ok
    theirs = SeenRoute(device="eth1", table=254, **kind)
    one_bad(replace(healthy("vm1"), routes=(*ours, theirs)), "vm1", "protocol")


CHAIN = ForwardChain(family="ip", table="filter", name="FORWARD", policy="drop")


def test_a_firewall_that_drops_what_is_forwarded() -> None:
    facts = replace(healthy("oss1"), firewall=FirewallState(chains=(CHAIN,)))
    assert one_bad(facts, "oss1", "firewall").fix.splitlines() == [
        'nft insert rule ip filter FORWARD iifname "br0" oifname "pf0" accept',
        'nft insert rule ip filter FORWARD iifname "pf0" oifname "br0" accept',
    ]
    assert findings(replace(healthy("vm1"), firewall=facts.firewall), "vm1", "firewall") == []


def test_a_firewall_that_lets_both_legs_through_or_is_of_the_other_ip() -> None:
    through = replace(CHAIN, accepts=frozenset({("br0", "pf0"), ("pf0", None)}))
    other = replace(CHAIN, family="ip6")
    facts = replace(healthy("oss1"), firewall=FirewallState(chains=(through, other)))
    assert findings(facts, "oss1", "firewall")[0].ok
    one_way = replace(CHAIN, accepts=frozenset({("br0", None), ("eth1", "br0")}))
    one_bad(replace(facts, firewall=FirewallState(chains=(one_way,))), "oss1", "firewall")


def test_a_firewall_that_could_not_be_read() -> None:
    firewall = FirewallState(unread=("nft: not permitted", "iptables: not permitted"))
    found = findings(replace(healthy("oss1"), firewall=firewall), "oss1", "firewall")
    assert [(f.ok, f.fix) for f in found] == [
        (None, "nft list ruleset"),
        (None, "iptables-legacy -S FORWARD"),
    ]


def test_network_manager_on_the_virtio_leg() -> None:
    facts = replace(healthy("vm1"), managed={"virtio0": Managed(network_manager=True)})
    assert one_bad(facts, "vm1", "managed").fix.splitlines()[:3] == [
        "# /etc/NetworkManager/conf.d/90-vas-virtio0.conf",
        "[keyfile]",
        "unmanaged-devices+=interface-name:virtio0",
    ]


def test_network_manager_on_the_sriov_leg_keeps_its_address_without_a_carrier() -> None:
    facts = replace(healthy("vm1"), managed={"vf0": Managed(network_manager=True)})
    found = one_bad(facts, "vm1", "managed")
    assert "match-device=interface-name:vf0\nignore-carrier=yes\n" in found.fix


@pytest.mark.parametrize(("state", "bad"), [("unmanaged", False), ("configured", True)])
def test_networkd_on_the_virtio_leg(state: str, bad: bool) -> None:
    facts = replace(healthy("vm1"), managed={"virtio0": Managed(networkd=state)})
    assert [f.ok for f in findings(facts, "vm1", "managed")] == [True, not bad]
    if bad:
        text = "[Match]\nName=virtio0\n\n[Link]\nUnmanaged=yes\n"
        assert text in one_bad(facts, "vm1", "managed").fix


def test_networkd_on_the_sriov_leg() -> None:
    managed = Managed(networkd="configured", network_file="/etc/systemd/network/20-vf.network")
    found = one_bad(replace(healthy("vm1"), managed={"vf0": managed}), "vm1", "managed")
    file = "# /etc/systemd/network/20-vf.network.d/90-vas.conf\n[Network]\nIgnoreCarrierLoss=yes\n"
    assert found.fix.startswith(file)


@pytest.mark.parametrize(
    ("settings", "ok"),
    [
        ({}, False),
        ({"ManageForeignRoutes": "no"}, False),
        ({"ManageForeignRoutes": "no", "ManageForeignRoutingPolicyRules": "False"}, True),
    ],
)
def test_networkd_and_routes_of_others(settings: dict[str, str], ok: bool) -> None:
    facts = replace(healthy("vm1"), networkd=settings)
    assert findings(facts, "vm1", "foreign-routes")[0].ok is ok
    if not ok:
        text = "[Network]\nManageForeignRoutes=no\nManageForeignRoutingPolicyRules=no\n"
        assert text in one_bad(facts, "vm1", "foreign-routes").fix


@pytest.mark.parametrize(
    ("value", "priority", "ok"),
    [(None, 1000, True), ("1", 1000, True), ("0", 1000, False), ("0", 0, True)],
)
def test_rules_that_lustre_adds(value: str | None, priority: int, ok: bool) -> None:
    facts = replace(healthy("vm1"), skip_mr_route_setup=value)
    settings = RouteSettings(rule_priority=priority)
    (found,) = (f for f in examine(site(), "vm1", facts, settings) if f.check == "lnet-rules")
    assert found.ok is ok
    assert ok or "\noptions ksocklnd skip_mr_route_setup=1\n" in found.fix


@pytest.mark.parametrize("first", ["0", "293"])
def test_S2_a_port_that_users_may_use(first: str) -> None:
    facts = with_sysctl(healthy("vm1"), net__ipv4__ip_unprivileged_port_start=first)
    assert "flood" in one_bad(facts, "vm1", "probe-port").what
    facts = with_sysctl(healthy("vm1"), net__ipv4__ip_unprivileged_port_start="294")
    assert all(f.ok is not False for f in examine(site(), "vm1", facts))
