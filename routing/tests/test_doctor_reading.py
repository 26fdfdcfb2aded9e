"""The doctor's edge: files under a root, texts and messages as kernels and programs give them,
and interfaces that are really there."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from pyroute2.netlink.rtnl.ifinfmsg import ifinfmsg

from vas_core.process import run
from vas_core.root import Root
from vas_routing.doctor.facts import Managed, NicFacts, VirtualFunction
from vas_routing.doctor.others import forward_chains, read_managed, read_networkd
from vas_routing.doctor.reading import nic

HERE = Path(__file__).parent
VF0 = NicFacts(index=5, name="vf0", mac="", mtu=1500)


def write(root: Path, files: dict[str, str]) -> Root:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Root(root)


def test_network_manager_and_networkd_by_index(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "run/NetworkManager/devices/5": "[device]\nmanaged=true\nconnection-uuid=7\n",
            "run/systemd/netif/links/5": "# private\nADMIN_STATE=configured\nOPER_STATE=routable\n"
            "NETWORK_FILE=/etc/systemd/network/20-vf.network\n",
        },
    )
    file = "/etc/systemd/network/20-vf.network"
    wanted = Managed(network_manager=True, networkd="configured", network_file=file)
    assert read_managed(root, [VF0], {}) == {"vf0": wanted}


def test_unmanaged_by_either(tmp_path: Path) -> None:
    files = {"run/NetworkManager/devices/5": "[device]\nmanaged=false\n"}
    assert read_managed(write(tmp_path, files), [VF0], {}) == {"vf0": Managed()}


def test_another_namespace_has_other_indices(tmp_path: Path) -> None:
    root = write(tmp_path, {"run/NetworkManager/devices/5": "[device]\nmanaged=true\n"})
    for process, namespace in (("self", "net:[2]"), ("1", "net:[1]")):
        (tmp_path / f"proc/{process}/ns").mkdir(parents=True)
        (tmp_path / f"proc/{process}/ns/net").symlink_to(namespace)
    assert read_managed(root, [VF0], {}) == {}


def test_networkds_settings_come_by_precedence(tmp_path: Path) -> None:
    assert read_networkd(Root(tmp_path), {}) is None
    root = write(
        tmp_path,
        {
            "run/systemd/netif/state": "OPER_STATE=routable\n",
            "usr/lib/systemd/networkd.conf": "[Network]\nManageForeignRoutes=no\n",
            "etc/systemd/networkd.conf": "[Network]\n#SpeedMeter=no\nManageForeignRoutes=yes\n",
            "usr/lib/systemd/networkd.conf.d/50-a.conf": "[Network]\nManageForeignRoutes=no\n",
            "etc/systemd/networkd.conf.d/50-a.conf": "[Network]\nSpeedMeter=yes\n",
            "run/systemd/networkd.conf.d/90-b.conf": "[DHCPv4]\nDUIDType=vendor\n",
        },
    )
    unread: dict[str, str] = {}
    assert read_networkd(root, unread) == {"ManageForeignRoutes": "yes", "SpeedMeter": "yes"}
    assert unread == {}


def test_networkds_settings_that_make_no_sense_are_said(tmp_path: Path) -> None:
    files = {"run/systemd/netif/state": "", "etc/systemd/networkd.conf": "ManageForeignRoutes"}
    unread: dict[str, str] = {}
    assert read_networkd(write(tmp_path, files), unread) == {}
    assert list(unread) == ["/etc/systemd/networkd.conf"]


def test_forward_chains_and_what_they_let_through() -> None:
    """What nft 1.0.6 printed of real chains: see `nft-ruleset.md`."""
    found, other = forward_chains((HERE / "nft-ruleset.json").read_text())
    assert (found.family, found.table, found.name) == ("ip", "filter", "FORWARD")
    assert (found.policy, other.policy, other.accepts) == ("drop", "accept", frozenset())
    assert found.accepts == {("br0", "pf0"), ("pf0", "br0"), ("br1", None)}
    assert forward_chains("") == ()


def test_the_vfs_of_a_pf_as_the_kernel_sends_them() -> None:
    """-1 is the kernel's word for what a driver does not have."""
    unknown = (1 << 32) - 1
    message = ifinfmsg()
    message["index"] = 2
    one: list[tuple[str, Any]] = [
        ("IFLA_VF_MAC", {"vf": 1, "mac": "52:54:00:77:01:01"}),
        ("IFLA_VF_VLAN", {"vf": 1, "vlan": 7, "qos": 0}),
        ("IFLA_VF_SPOOFCHK", {"vf": 1, "spoofchk": 1}),
        ("IFLA_VF_LINK_STATE", {"vf": 1, "link_state": 2}),
        ("IFLA_VF_TRUST", {"vf": 1, "trust": unknown}),
    ]
    message["attrs"] = [
        ("IFLA_IFNAME", "pf0"),
        ("IFLA_MTU", 1500),
        ("IFLA_NUM_VF", 1),
        ("IFLA_VFINFO_LIST", {"attrs": [("IFLA_VF_INFO", {"attrs": one})]}),
    ]
    message.encode()
    read = ifinfmsg(message.data)
    read.decode()
    assert nic(read, {}, ()).vfs == (
        VirtualFunction(
            number=1,
            mac="52:54:00:77:01:01",
            vlan=7,
            spoof_check=True,
            link_state="disable",
            trusted=None,
        ),
    )


@pytest.mark.unhurried
@pytest.mark.machine
def test_a_rule_without_a_priority_comes_behind_ours_at_0_alone() -> None:
    """As Lustre's ksocklnd-config adds them."""
    found = examined("ip rule add pref 0 lookup 213 protocol 213\n" + _WITHOUT_PRIORITY)
    assert all(each["ok"] for each in found if each["check"] == "rule-order")
    found = examined("ip rule add pref 1000 lookup 213 protocol 213\n" + _WITHOUT_PRIORITY, 1000)
    (front,) = (each for each in found if each["check"] == "rule-order")
    assert (front["ok"], front["where"]) == (False, "rule 999")
    assert front["what"].startswith("for what comes from 10.77.0.11/32 table 99 ")


_WITHOUT_PRIORITY = "ip rule add from 10.77.0.11 lookup 99"
LEGS = """
set -eu
mount -t sysfs sysfs /sys
ip link set lo up
ip link add pf0 type veth peer name fabric0
ip link add br0 type bridge stp_state 0 forward_delay 0
ip link add tap0 type veth peer name guest0
ip link set tap0 master br0
for nic in pf0 fabric0 br0 tap0 guest0; do ip link set "$nic" up; done
ip address add 10.77.0.11/24 dev pf0
ip address add 169.254.213.1/24 dev br0
for name in rp_filter arp_filter arp_ignore; do echo 0 > /proc/sys/net/ipv4/conf/all/$name; done
echo 0 > /proc/sys/net/ipv4/conf/pf0/rp_filter
echo 0 > /proc/sys/net/ipv4/conf/br0/rp_filter
if [ -e /proc/sys/net/bridge ]; then echo 0 > /proc/sys/net/bridge/bridge-nf-call-iptables; fi
"""
SPOILT = """
ip link set dev pf0 mtu 9000
ip link set dev fabric0 mtu 9000
ip link set dev tap0 mtu 1400
ip link set dev pf0 master br0
ip address add 10.77.0.11/24 dev guest0
ip address add 169.254.213.9/16 dev fabric0
ip link set dev br0 type bridge stp_state 1
ip rule add pref 0 lookup 77
ip route add 192.0.2.0/24 dev br0 table 213
echo 1 > /proc/sys/net/ipv4/conf/all/arp_filter
echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter
echo 8 > /proc/sys/net/ipv4/conf/all/arp_ignore
"""
WRONG = {
    "arp_filter",
    "arp_ignore",
    "bridge-network",
    "bridge-stp",
    "enslaved",
    "mtu",
    "rp_filter",
    "rule-order",
    "service-address",
    "table",
}


def examined(script: str, rule_priority: int = 0) -> list[dict[str, Any]]:
    """The findings on `oss1` in a namespace of its own, after a script."""
    look = f"exec {sys.executable} {HERE / 'doctor_print.py'} {rule_priority}"
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    done = run(
        ["unshare", "-rnm", "sh", "-c", f"exec 3>&1 >&2\n{LEGS}\n{script}\n{look} >&3"], env=env
    )
    findings: list[dict[str, Any]] = json.loads(done.stdout)
    return findings


def wrong(findings: list[dict[str, Any]]) -> set[str]:
    return {found["check"] for found in findings if found["ok"] is False}


def command(fix: str) -> str:
    """The commands of a fix, without what is said of them."""
    return "\n".join(line for line in fix.splitlines() if not line.startswith("#"))


@pytest.mark.unhurried
@pytest.mark.machine
def test_real_interfaces_spoilt_and_mended_by_the_fixes() -> None:
    spoilt = examined(SPOILT)
    assert wrong(spoilt) == WRONG
    fixes = dict.fromkeys(command(f["fix"]) for f in spoilt if f["ok"] is False)
    assert wrong(examined(f"{SPOILT}\n" + "\n".join(fixes))) == set()
