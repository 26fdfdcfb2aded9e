"""From a map to namespaces and cables."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from vas_cluster import load_cluster, parse_cluster
from vas_core.errors import BadInput
from vas_lab.network.apply import configuration, creation
from vas_lab.network.topology import FABRIC, fabric_prefix, plan_topology
from vas_lab.sites import check_memory, lab_site, lab_site_yaml, memory_needed

EXAMPLES = Path(__file__).parents[2] / "cluster/examples"


def test_the_default_lab_is_the_example_of_a_laptop() -> None:
    example = yaml.safe_load((EXAMPLES / "laptop-lab.yaml").read_text())
    assert lab_site(4) == example


@pytest.mark.unhurried
@settings(max_examples=20)
@given(st.integers(1, 64))
def test_every_number_of_hosts_gives_a_valid_map_and_network(hosts: int) -> None:
    cluster = parse_cluster(lab_site_yaml(hosts), "lab")
    topology = plan_topology(cluster)
    assert len(topology.nodes) == 2 * hosts + 2
    # PF, VF and the master's NIC on the fabric; one virtio cable a guest.
    assert len(topology.links) == 3 * hosts + 1
    ends = [nic for link in topology.links for nic in (link.a, link.b)]
    assert len({(nic.node, nic.name) for nic in ends}) == len(ends)
    assert all(len(nic.name) <= 15 for nic in ends)


@pytest.mark.parametrize("hosts", [0, 65, -1])
def test_other_numbers_are_refused(hosts: int) -> None:
    with pytest.raises(BadInput, match="hosts"):
        lab_site(hosts)


def test_memory_is_checked_before_the_start() -> None:
    check_memory(4, memory_needed(4))
    with pytest.raises(BadInput) as refused:
        check_memory(4, memory_needed(4) - 1)
    assert refused.value.hint == "give --hosts 3"
    assert memory_needed(4) < 6 << 30


def test_the_fabric_is_one_switch_and_the_bridge_joins_a_guest_to_its_host_only() -> None:
    topology = plan_topology(load_cluster(EXAMPLES / "laptop-lab.yaml"))
    on_fabric = [link for link in topology.links if FABRIC in (link.a.node, link.b.node)]
    assert {link.b.bridge for link in on_fabric} == {"fabric0"}
    virtio = {(link.a.node, link.b.node) for link in topology.links if link not in on_fabric}
    assert virtio == {(f"oss{n}", f"vm{n}") for n in range(1, 5)}


def test_a_resourcemanager_on_a_host_or_guest_is_no_node_of_its_own() -> None:
    site = lab_site(2)
    site["yarn"]["resourcemanager"] = {"name": "vm2"}
    topology = plan_topology(parse_cluster(yaml.safe_dump(site), "lab"))
    assert topology.master == "vm2"
    assert sorted(topology.nodes) == ["_fabric", "oss1", "oss2", "vm1", "vm2"]
    assert "netns add vm2" not in list(creation(topology))


def test_names_resolve_to_the_data_fabric() -> None:
    topology = plan_topology(load_cluster(EXAMPLES / "laptop-lab.yaml"))
    lines = topology.hosts_file().splitlines()
    assert lines[0] == "127.0.0.1 localhost"
    assert {"10.77.0.2 rm", "10.77.0.11 oss1", "10.77.0.24 vm4"} <= set(lines)
    assert len(lines) == 2 + 9


def test_the_commands_of_a_guest_and_of_its_cables() -> None:
    topology = plan_topology(load_cluster(EXAMPLES / "laptop-lab.yaml"))
    assert list(configuration(topology, "vm1")) == [
        "link set lo up",
        "addr add 10.77.0.21/24 dev vf0",
        "link set vf0 up",
        "link set virtio0 up",
    ]
    made = list(creation(topology))
    assert (
        "link add name vf0 netns vm1 address 52:54:00:77:01:01 "
        "type veth peer name port1 netns _fabric"
    ) in made


@pytest.mark.parametrize(
    ("addresses", "prefix"),
    [
        (["10.0.0.1", "10.0.0.2"], 24),
        (["10.0.0.1", "10.0.1.2"], 23),
        (["10.1.0.1", "10.2.0.1"], 14),
        (["fd00::1", "fd00::2"], 64),
        (["10.0.0.1"], 24),
    ],
)
def test_the_prefix_holds_all_addresses(addresses: list[str], prefix: int) -> None:
    assert fabric_prefix(addresses) == prefix


@pytest.mark.parametrize("addresses", [["10.0.0.1", "fd00::1"], ["10.0.0.1", "192.168.0.1"]])
def test_addresses_without_a_common_network_are_refused(addresses: list[str]) -> None:
    with pytest.raises(BadInput):
        fabric_prefix(addresses)
