"""The doctor: nothing to say of a healthy node, and each thing that is wrong with its fix."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_interface
from typing import Any

import pytest
from doctor_facts import (
    findings,
    healthy,
    nic,
    one_bad,
    vf,
    with_nic,
    with_sysctl,
    without,
)
from site_map import site

from vas_core.errors import BadInput
from vas_routing.doctor import NetworkFacts, examine
from vas_routing.doctor.facts import BridgeFacts, Neighbour

VM1, VM4 = "52:54:00:77:01:01", "52:54:00:77:04:01"


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("node", ["oss1", "vm1"])
def test_a_healthy_node_has_good_findings_alone(node: str, version: int) -> None:
    found = examine(site(version), node, healthy(node, version))
    assert [f for f in found if f.ok is not True] == []
    assert all(f.what and f.where and not f.fix for f in found)


def test_every_check_of_a_host_says_something_also_when_all_is_well() -> None:
    checks = {f.check for f in examine(site(), "oss1", healthy("oss1"))}
    assert checks >= {"leg", "enslaved", "mtu", "service-address", "bridge-network", "bridge-stp"}
    assert checks >= {"bridge-netfilter", "vf-mac", "vf-spoof-check", "vf-vlan", "vf-link-state"}
    assert checks >= {"vf-trust", "rp_filter", "arp_filter", "arp_ignore", "arp_announce"}
    assert checks >= {"rule-order", "table", "protocol", "firewall", "managed", "foreign-routes"}


def test_a_node_that_the_map_does_not_have() -> None:
    with pytest.raises(BadInput, match="no host or guest is named vm9"):
        examine(site(), "vm9", NetworkFacts())


def test_a_finding_as_json() -> None:
    found = one_bad(with_nic(healthy("oss1"), "pf0", master="bond0"), "oss1", "enslaved")
    assert found.as_json() == {
        "check": "enslaved",
        "ok": False,
        "what": found.what,
        "where": "pf0",
        "fix": "ip link set dev pf0 nomaster",
    }


def test_without_its_legs() -> None:
    found = findings(NetworkFacts(), "vm1", "leg")
    assert [(f.where, f.ok) for f in found] == [("vf0", False), ("virtio0", False)]
    assert "virsh attach-interface vm1 bridge br0" in found[1].fix


def test_mtu_of_a_bridge_and_its_port() -> None:
    facts = with_nic(healthy("oss1"), "pf0", mtu=9000)
    found = one_bad(facts, "oss1", "mtu")
    assert "br0 1500, tap0 1500" in found.what
    commands = found.fix.splitlines()
    assert commands[:2] == ["ip link set dev tap0 mtu 9000", "ip link set dev br0 mtu 9000"]


def test_mtu_of_a_port_alone_and_of_a_vf_that_no_guest_has_taken() -> None:
    facts = with_nic(healthy("oss1"), "tap0", mtu=1400)
    assert one_bad(facts, "oss1", "mtu").fix.startswith("ip link set dev tap0 mtu 1500\n#")
    facts = with_nic(healthy("oss1"), "vf7", mtu=1400, mac=VM4)
    assert "vf7 1400" in one_bad(facts, "oss1", "mtu").what


def test_mtu_of_a_guest() -> None:
    found = one_bad(with_nic(healthy("vm1"), "virtio0", mtu=9000), "vm1", "mtu")
    assert found.fix.startswith("ip link set dev virtio0 mtu 1500")


def test_a_guests_leg_with_another_mac() -> None:
    found = one_bad(with_nic(healthy("vm1"), "vf0", mac="02:aa:00:00:00:01"), "vm1", "mac")
    assert found.fix == f"ip link set dev vf0 address {VM1}"


def test_a_guests_leg_of_another_name_is_found_by_its_mac() -> None:
    facts = healthy("vm1")
    renamed = {n.name: n for n in (replace(facts.nics["vf0"], name="ens5"), facts.nics["virtio0"])}
    assert findings(replace(facts, nics=renamed), "vm1", "leg")[0].where == "ens5"


def test_the_service_address_twice() -> None:
    facts = with_nic(healthy("oss1"), "eth1", addresses=(ip_interface("10.77.0.11/16"),))
    found = one_bad(facts, "oss1", "service-address")
    assert found.fix == "ip address del 10.77.0.11/16 dev eth1"


@pytest.mark.parametrize("version", [4, 6])
def test_the_service_address_on_lo_is_what_vas_put_there(version: int) -> None:
    own = ip_interface(site(version).hosts[0].address)
    facts = with_nic(healthy("oss1", version), "lo", addresses=(own,))
    assert [f.ok for f in findings(facts, "oss1", "service-address", version)] == [True]


def test_the_fabrics_network_on_lo_is_not_vas_s() -> None:
    facts = with_nic(healthy("oss1"), "lo", addresses=(ip_interface("10.77.0.11/24"),))
    assert [f.ok for f in findings(facts, "oss1", "service-address")] == [False]


def test_the_service_address_on_the_bridge() -> None:
    hop = ip_interface("169.254.213.1/24")
    facts = with_nic(healthy("oss1"), "br0", addresses=(ip_interface("10.77.0.11/24"), hop))
    facts = with_nic(facts, "pf0", addresses=())
    assert one_bad(facts, "oss1", "service-address").fix.splitlines() == [
        "ip address del 10.77.0.11/24 dev br0",
        "ip address add 10.77.0.11/24 dev pf0",
    ]


def test_the_service_address_nowhere() -> None:
    found = one_bad(with_nic(healthy("vm1"), "vf0", addresses=()), "vm1", "service-address")
    assert found.fix == "ip address add 10.77.0.21/PREFIX-OF-THE-FABRIC dev vf0"


@pytest.mark.parametrize(
    ("name", "address", "whose"),
    [
        ("eth1", "169.254.213.77/16", "is in the bridge's network"),
        ("br0", "169.254.213.2/24", "vm1"),
    ],
)
def test_the_bridges_network_used_by_another(name: str, address: str, whose: str) -> None:
    facts = healthy("oss1")
    own = facts.nics[name].addresses if name in facts.nics else ()
    found = one_bad(
        with_nic(facts, name, addresses=(*own, ip_interface(address))), "oss1", "bridge-network"
    )
    assert whose in found.what
    assert found.fix == f"ip address del {address} dev {name}"


def test_link_local_ipv6_of_other_devices_is_no_conflict() -> None:
    facts = with_nic(healthy("oss1", 6), "eth1", addresses=(ip_interface("fe80::213:1/64"),))
    assert all(f.ok for f in findings(facts, "oss1", "bridge-network", 6))


def test_another_mac_answers_for_a_guest_on_the_bridge() -> None:
    seen = Neighbour(address=ip_address("169.254.213.2"), device="br0", mac="02:00:00:00:00:99")
    found = one_bad(replace(healthy("oss1"), neighbours=(seen,)), "oss1", "bridge-network")
    assert "belongs to vm1" in found.what
    right = replace(seen, mac="52:54:00:77:01:02")
    assert findings(replace(healthy("oss1"), neighbours=(right,)), "oss1", "bridge-network")[0].ok


def test_a_bridge_with_a_spanning_tree() -> None:
    bridge = BridgeFacts(stp=True, forward_delay_seconds=15.0)
    found = one_bad(with_nic(healthy("oss1"), "br0", bridge=bridge), "oss1", "bridge-stp")
    assert "cut off for 30 s" in found.what
    assert "stp_state 0\n" in found.fix


def test_a_bridge_that_is_none() -> None:
    one_bad(with_nic(healthy("oss1"), "br0", bridge=None), "oss1", "bridge-stp")


@pytest.mark.parametrize(("version", "word"), [(4, "iptables"), (6, "ip6tables")])
def test_bridge_netfilter(version: int, word: str) -> None:
    name = f"net__bridge__bridge-nf-call-{word}"
    facts = with_sysctl(healthy("oss1", version), **{name: "1"})
    found = one_bad(facts, "oss1", "bridge-netfilter", version)
    assert found.fix.startswith(f"sysctl -w net/bridge/bridge-nf-call-{word}=0\n#")
    bridge = BridgeFacts(
        stp=False, forward_delay_seconds=0, calls_iptables=True, calls_ip6tables=True
    )
    facts = with_nic(healthy("oss1", version), "br0", bridge=bridge)
    order = f"ip link set dev br0 type bridge nf_call_{word} 0\n#"
    assert one_bad(facts, "oss1", "bridge-netfilter", version).fix.startswith(order)


@pytest.mark.parametrize(
    ("change", "check", "fix"),
    [
        ({"vlan": 7}, "vf-vlan", "ip link set dev pf0 vf 0 vlan 0"),
        ({"link_state": "enable"}, "vf-link-state", "ip link set dev pf0 vf 0 state auto"),
        ({"link_state": "disable"}, "vf-link-state", "ip link set dev pf0 vf 0 state auto"),
    ],
)
def test_a_vf_that_its_pf_holds_back(change: dict[str, Any], check: str, fix: str) -> None:
    facts = with_nic(healthy("oss1"), "pf0", vfs=(vf(0, VM1, **change), vf(1, VM4)))
    assert one_bad(facts, "oss1", check).fix == fix


@pytest.mark.parametrize(("mac", "checks"), [("00:00:00:00:00:00", 2), ("02:00:00:00:00:55", 3)])
def test_a_vf_without_the_maps_mac(mac: str, checks: int) -> None:
    facts = with_nic(healthy("oss1"), "pf0", vfs=(vf(0, VM1), vf(1, mac)))
    wrong = [f for f in examine(site(), "oss1", facts) if not f.ok]
    order = f"ip link set dev pf0 vf 1 mac {VM4}"
    assert [f.check for f in wrong] == ["vf-mac", "vf-spoof-check", "vf-trust"][:: 4 - checks]
    assert all(f.fix.startswith(order) for f in wrong)


def test_a_trusted_vf_may_have_another_mac_but_for_the_spoof_check() -> None:
    other = vf(1, "02:00:00:00:00:55", trusted=True, spoof_check=False)
    one_bad(with_nic(healthy("oss1"), "pf0", vfs=(vf(0, VM1), other)), "oss1", "vf-mac")


def test_too_few_vfs() -> None:
    none = one_bad(with_nic(healthy("oss1"), "pf0", vfs=()), "oss1", "vf-mac")
    assert none.fix == "echo 2 > /sys/class/net/pf0/device/sriov_numvfs"
    few = one_bad(with_nic(healthy("oss1"), "pf0", vfs=(vf(0, VM1),)), "oss1", "vf-mac")
    assert VM4 in few.what
    assert few.fix.startswith("# stop the guests")


def test_what_a_driver_does_not_say_is_not_good() -> None:
    silent = vf(0, VM1, vlan=None, spoof_check=None, link_state=None, trusted=None)
    facts = with_nic(healthy("oss1"), "pf0", vfs=(silent, vf(1, VM4)))
    unread = [f for f in examine(site(), "oss1", facts) if f.ok is None]
    assert [f.check for f in unread] == ["vf-spoof-check", "vf-vlan", "vf-link-state", "vf-trust"]
    assert {f.fix for f in unread} == {"ip -d link show dev pf0"}
    assert findings(with_nic(facts, "pf0", vfs=None), "oss1", "vf-mac")[0].ok is None


@pytest.mark.parametrize(
    ("of_all", "own", "ok"),
    [("1", "2", True), ("1", "0", False), ("0", "1", False), ("2", "1", True)],
)
def test_the_greater_rp_filter_counts(of_all: str, own: str, ok: bool) -> None:
    facts = with_sysctl(
        healthy("vm1"),
        net__ipv4__conf__all__rp_filter=of_all,
        net__ipv4__conf__vf0__rp_filter=own,
        net__ipv4__conf__virtio0__rp_filter="2",
    )
    assert findings(facts, "vm1", "rp_filter")[0].ok is ok
    if not ok:
        fix = one_bad(facts, "vm1", "rp_filter").fix
        assert fix.startswith("sysctl -w net/ipv4/conf/vf0/rp_filter=2 ")


def test_arp_filter_of_all_or_the_device() -> None:
    facts = with_sysctl(healthy("vm1"), net__ipv4__conf__vf0__arp_filter="1")
    assert one_bad(facts, "vm1", "arp_filter").fix == "sysctl -w net/ipv4/conf/vf0/arp_filter=0"
    facts = with_sysctl(healthy("vm1"), net__ipv4__conf__all__arp_filter="1")
    assert [f.ok for f in findings(facts, "vm1", "arp_filter")] == [False, False]


@pytest.mark.parametrize(
    ("value", "ok"), [("0", True), ("1", True), ("2", True), ("3", False), ("8", False)]
)
def test_an_arp_ignore_of_all_that_the_devices_does_not_lower(value: str, ok: bool) -> None:
    facts = with_sysctl(healthy("vm1"), net__ipv4__conf__all__arp_ignore=value)
    found = findings(facts, "vm1", "arp_ignore")
    assert {f.ok for f in found} == {ok}
    assert {f.fix for f in found} == {"" if ok else "sysctl -w net/ipv4/conf/all/arp_ignore=1"}


@pytest.mark.parametrize(("value", "ok"), [("0", True), ("2", True), ("3", False)])
def test_an_arp_announce_that_the_kernel_takes_for_none(value: str, ok: bool) -> None:
    facts = with_sysctl(healthy("vm1"), net__ipv4__conf__all__arp_announce=value)
    assert {f.ok for f in findings(facts, "vm1", "arp_announce")} == {ok}


@pytest.mark.parametrize("name", ["rp_filter", "arp_filter", "arp_ignore", "arp_announce"])
def test_a_parameter_that_was_not_read_is_said(name: str) -> None:
    facts = without(healthy("vm1"), f"net/ipv4/conf/vf0/{name}")
    assert [f.ok for f in findings(facts, "vm1", name)] == [None, True]


def test_ipv6_without_forwarding_by_device() -> None:
    facts = without(healthy("oss1", 6), "net/ipv6/conf/pf0/force_forwarding")
    found = one_bad(facts, "oss1", "ipv6-forwarding", 6)
    assert found.fix.startswith("sysctl -w net/ipv6/conf/all/forwarding=1\n")
    on = with_sysctl(facts, net__ipv6__conf__all__forwarding="1")
    assert findings(on, "oss1", "ipv6-forwarding", 6)[0].ok
    nothing = without(facts, "net/ipv6/conf/all/forwarding")
    assert findings(nothing, "oss1", "ipv6-forwarding", 6)[0].ok is None


def test_what_could_not_be_read_is_said() -> None:
    facts = replace(healthy("vm1"), unread={"/proc/sys/x": "Permission denied"})
    assert [(f.where, f.ok) for f in findings(facts, "vm1", "read")] == [("/proc/sys/x", None)]


def test_a_host_without_guests_needs_no_bridge() -> None:
    cluster = site()
    alone = cluster.hosts[0].model_copy(update={"guests": []})
    cluster = cluster.model_copy(update={"hosts": [alone, *cluster.hosts[1:]]})
    pf = nic(2, "pf0", "10.77.0.11/24")
    facts = NetworkFacts(nics={"pf0": pf}, sysctls=healthy("oss1").sysctls)
    assert [f for f in examine(cluster, "oss1", facts) if not f.ok] == []
