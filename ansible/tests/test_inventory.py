"""The inventory that a map implies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from ansible.errors import AnsibleParserError
from modules import load

from vas_ansible.inventory import InventoryGroup, evacuated_hosts, nodes_of
from vas_cluster import load_cluster, parse_cluster
from vas_core.errors import BadInput
from vas_core.polling import poll

EXAMPLES = Path(__file__).parents[2] / "cluster" / "examples"


def test_every_machine_is_there_once_with_its_groups() -> None:
    nodes = nodes_of(load_cluster(EXAMPLES / "four-oss.yaml"))
    assert len({node.name for node in nodes}) == len(nodes) == 9
    by_name = {node.name: node for node in nodes}
    assert by_name["oss01.hpc.example"].groups == (InventoryGroup.OSS,)
    assert by_name["vas01.hpc.example"].groups == (InventoryGroup.GUESTS,)
    assert by_name["yarn-rm.hpc.example"].groups == (InventoryGroup.MANAGER,)
    assert by_name["yarn-rm.hpc.example"].address == "192.0.2.5"


def test_a_manager_that_is_a_host_is_no_machine_of_its_own() -> None:
    text = (EXAMPLES / "four-oss.yaml").read_text()
    there = "resourcemanager: {name: yarn-rm.hpc.example, address: 192.0.2.5}"
    cluster = parse_cluster(text.replace(there, "resourcemanager: {name: oss02.hpc.example}"), "x")
    nodes = {node.name: node for node in nodes_of(cluster)}
    assert len(nodes) == 8
    assert nodes["oss02.hpc.example"].groups == (InventoryGroup.OSS, InventoryGroup.MANAGER)


def test_a_login_node_is_in_a_group_of_its_own() -> None:
    text = (EXAMPLES / "four-oss.yaml").read_text()
    login = "\nyarn:\n  clients: [{name: login01.hpc.example, address: 192.0.2.9}]\n"
    nodes = nodes_of(parse_cluster(text.replace("\nyarn:\n", login), "x"))
    assert nodes[-1].name == "login01.hpc.example"
    assert nodes[-1].groups == (InventoryGroup.CLIENTS,)


def test_what_was_evacuated_is_marked_with_its_guests() -> None:
    cluster = load_cluster(EXAMPLES / "four-oss.yaml")
    evacuated = evacuated_hosts(cluster, "oss02.hpc.example\n")
    marked = [
        node.name
        for node in nodes_of(cluster, evacuated)
        if InventoryGroup.EVACUATED in node.groups
    ]
    assert marked == ["oss02.hpc.example", "vas02.hpc.example"]
    with pytest.raises(BadInput, match=r"oss9: is not a storage server"):
        evacuated_hosts(cluster, "oss9")


def test_a_guest_knows_its_host_and_its_vf() -> None:
    nodes = {node.name: node for node in nodes_of(load_cluster(EXAMPLES / "four-oss.yaml"))}
    said = nodes["vas02.hpc.example"].variables
    assert said["vas_guest_host"] == "oss02.hpc.example"
    assert said["vas_nics"] == {"vf": "ens1f0v0"}


_TAKES = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(descriptor, fcntl.LOCK_EX)
print("taken", flush=True)
sys.stdin.read()
"""


@pytest.mark.machine  # importing Ansible looks for a controller of jobs
def test_two_playbooks_do_not_work_on_one_site(tmp_path: Path) -> None:
    plugin, file = load("inventory/vas_cluster.py"), tmp_path / "cluster.yaml"
    file.touch()
    argv, pipe = [sys.executable, "-c", _TAKES, str(file)], subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout and other.stdout.readline() == "taken\n"
        who = rf"cluster\.yaml: another ansible-playbook .*, process {other.pid}; wait"
        with pytest.raises(AnsibleParserError, match=who):
            plugin.hold(file)
        other.communicate()
    plugin.hold(file)


@pytest.mark.machine
def test_a_playbook_may_read_its_inventory_again(tmp_path: Path) -> None:
    plugin, file = load("inventory/vas_cluster.py"), tmp_path / "cluster.yaml"
    file.touch()
    plugin.hold(file)
    plugin.hold(file)
    assert len(plugin._held) == 1


_HOLDS = """
import fcntl, os, sys, time
descriptor = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(descriptor, fcntl.LOCK_EX)
child = os.fork()
if child:
    print(child, flush=True)
    os._exit(0)
time.sleep(60)
"""


@pytest.mark.machine
def test_what_a_playbook_left_behind_is_named(tmp_path: Path) -> None:
    plugin, file = load("inventory/vas_cluster.py"), tmp_path / "cluster.yaml"
    file.touch()
    # No pipe to wait for: the child that stays has its end open.
    with (tmp_path / "pid").open("w") as told:
        subprocess.run([sys.executable, "-c", _HOLDS, str(file)], stdout=told, check=True)
    left = int((tmp_path / "pid").read_text())
    try:
        with pytest.raises(AnsibleParserError, match=rf"left processes behind: kill {left}$"):
            plugin.hold(file)
    finally:
        os.kill(left, signal.SIGKILL)
    poll(lambda: not _is_held(plugin, file), bool, 10.0, "the end of the lock")


def _is_held(plugin: ModuleType, file: Path) -> bool:
    try:
        plugin.hold(file)
    except AnsibleParserError:
        return True
    return False


@pytest.mark.machine
def test_storage_waits_for_no_playbook() -> None:
    needs_hold = load("inventory/vas_cluster.py").needs_hold
    assert needs_hold(["/usr/bin/ansible-playbook", "-e", "a=b", "site.yml"])
    assert not needs_hold(["ansible-playbook", "/site/evacuate.yml", "-e", "vas_evacuate=oss1"])
    assert not needs_hold(["ansible-playbook", "vas.site.evacuate"])
    assert needs_hold(["ansible-playbook", "vas.site.site"])
    assert not needs_hold(["ansible-playbook", "site.yml", "--list-hosts"])
    assert not needs_hold(["ansible-inventory", "--graph"])
