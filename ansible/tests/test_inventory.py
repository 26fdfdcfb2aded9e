"""The inventory that a map implies."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible.errors import AnsibleParserError
from modules import load

from vas_ansible.inventory import Group, evacuated_hosts, nodes_of
from vas_cluster import load_cluster, parse_cluster
from vas_core.errors import BadInput

EXAMPLES = Path(__file__).parents[2] / "cluster" / "examples"


def test_every_machine_is_there_once_with_its_groups() -> None:
    nodes = nodes_of(load_cluster(EXAMPLES / "four-oss.yaml"))
    assert len({node.name for node in nodes}) == len(nodes) == 9
    by_name = {node.name: node for node in nodes}
    assert by_name["oss01.hpc.example"].groups == (Group.OSS,)
    assert by_name["vas01.hpc.example"].groups == (Group.GUESTS,)
    assert by_name["yarn-rm.hpc.example"].groups == (Group.MANAGER,)
    assert by_name["yarn-rm.hpc.example"].address == "10.10.0.5"


def test_a_manager_that_is_a_host_is_no_machine_of_its_own() -> None:
    text = (EXAMPLES / "four-oss.yaml").read_text()
    there = "resourcemanager: {name: yarn-rm.hpc.example, address: 10.10.0.5}"
    cluster = parse_cluster(text.replace(there, "resourcemanager: {name: oss02.hpc.example}"), "x")
    nodes = {node.name: node for node in nodes_of(cluster)}
    assert len(nodes) == 8
    assert nodes["oss02.hpc.example"].groups == (Group.OSS, Group.MANAGER)


def test_what_was_evacuated_is_marked_with_its_guests() -> None:
    cluster = load_cluster(EXAMPLES / "four-oss.yaml")
    evacuated = evacuated_hosts(cluster, "oss02.hpc.example\n")
    marked = [node.name for node in nodes_of(cluster, evacuated) if Group.EVACUATED in node.groups]
    assert marked == ["oss02.hpc.example", "vas02.hpc.example"]
    with pytest.raises(BadInput, match=r"oss9: is no storage server"):
        evacuated_hosts(cluster, "oss9")


def test_a_guest_knows_its_host_and_its_legs() -> None:
    nodes = {node.name: node for node in nodes_of(load_cluster(EXAMPLES / "four-oss.yaml"))}
    said = nodes["vas02.hpc.example"].variables
    assert said["vas_guest_host"] == "oss02.hpc.example"
    assert said["vas_nics"] == {"vf": "ens1f0v0", "virtio": "virtio0"}


@pytest.mark.machine  # importing Ansible looks for a controller of jobs
def test_two_playbooks_do_not_work_on_one_site(tmp_path: Path) -> None:
    plugin = load("inventory/vas_cluster.py")
    (tmp_path / "cluster.yaml").touch()
    plugin.hold(tmp_path / "cluster.yaml")
    with pytest.raises(AnsibleParserError, match=r"cluster\.yaml: another ansible-playbook"):
        plugin.hold(tmp_path / "cluster.yaml")
