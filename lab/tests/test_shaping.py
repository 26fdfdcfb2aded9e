"""Links as fast as the paper's: every packet is slowed down once, to the figure of its case."""

from __future__ import annotations

import re

import pytest
import yaml

from vas_cluster import parse_cluster
from vas_lab.network.shaping import rate_mbps, shaping
from vas_lab.network.topology import plan_topology
from vas_lab.sites import net_site
from vas_routing.calibrate.paper import NodeRelation, relation_of
from vas_routing.links import Leg

CLUSTER = parse_cluster(yaml.safe_dump(net_site()), "net")
TOPOLOGY = plan_topology(CLUSTER)
NAMES = {address: name for name, address in TOPOLOGY.addresses}
FILTER = re.compile(r"filter add dev (\S+) .* src (\S+)/32 match ip dst (\S+)/32 flowid 1:(\d)")
CLASS = re.compile(r"class add dev (\S+) parent 1: classid 1:(\d) htb rate (\d+)mbit quantum 60000")


def shaped() -> dict[tuple[str, str, str, str], int]:
    """Node, device, source, destination -> Mbit/s."""
    classes: dict[tuple[str, str, str], int] = {}
    found = {}
    for node, line in shaping(CLUSTER, TOPOLOGY):
        if match := CLASS.fullmatch(line):
            classes[node, match[1], match[2]] = int(match[3])
        elif match := FILTER.fullmatch(line):
            pair = NAMES[match[2]], NAMES[match[3]]
            found[node, match[1], *pair] = classes[node, match[1], match[4]]
        else:
            assert line.startswith("qdisc add dev "), line
    return found


@pytest.mark.parametrize(
    ("kind", "leg", "mbps"),
    [
        (NodeRelation.OWN_HOST, Leg.VIRTIO, 1520),
        (NodeRelation.OWN_HOST, Leg.SRIOV, 710),
        (NodeRelation.OTHER_HOST, Leg.VIRTIO, 430),
        (NodeRelation.OTHER_HOST, Leg.SRIOV, 610),
        (NodeRelation.OTHER_VM, Leg.VIRTIO, 720),
        (NodeRelation.OTHER_VM, Leg.SRIOV, 920),
    ],
)
def test_the_rates_are_a_tenth_of_the_papers(kind: NodeRelation, leg: Leg, mbps: int) -> None:
    assert rate_mbps(kind, leg) == mbps


@pytest.mark.parametrize(
    ("way", "mbps"),
    [
        (("vm1", "virtio0", "vm1", "oss1"), 1520),
        (("oss1", "vnet0", "oss1", "vm1"), 1520),
        (("vm1", "vf0", "vm1", "oss1"), 710),
        (("oss1", "pf0", "oss1", "vm1"), 710),
        (("vm1", "virtio0", "vm1", "oss2"), 430),
        (("oss1", "vnet0", "oss2", "vm1"), 430),
        (("vm1", "vf0", "vm1", "oss2"), 610),
        (("oss2", "pf0", "oss2", "vm1"), 610),
        (("vm1", "virtio0", "vm1", "vm2"), 720),
        (("oss1", "vnet0", "vm2", "vm1"), 720),
        (("vm1", "vf0", "vm1", "vm2"), 920),
        (("oss1", "vnet1", "vm1", "vm4"), 1520),
    ],
)
def test_each_case_and_the_way_back(way: tuple[str, str, str, str], mbps: int) -> None:
    assert shaped()[way] == mbps


def test_a_host_forwards_freely() -> None:
    for (_, device, source, _), _ in shaped().items():
        assert device != "pf0" or CLUSTER.host(source)


def test_the_switch_and_the_resourcemanager_are_as_fast_as_they_are() -> None:
    ends = {name for _, _, *pair in shaped() for name in pair}
    assert ends == {"oss1", "oss2", "oss3", "vm1", "vm2", "vm3", "vm4"}


def test_two_guests_of_a_host_are_as_a_guest_and_its_host() -> None:
    assert (
        relation_of(CLUSTER, "vm1", "vm4")
        is NodeRelation.OWN_HOST
        is relation_of(CLUSTER, "oss1", "vm4")
    )
    assert relation_of(CLUSTER, "oss1", "oss2") is None is relation_of(CLUSTER, "rm", "vm1")
