"""The Vagrantfile, as Vagrant reads it. Skipped without Vagrant, which nothing else here needs."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from vas_cluster import load_cluster
from vas_core.process import Completed, run
from vas_core.repository import REPOSITORY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("vagrant") is None, reason="no vagrant (package vagrant)"),
]


# Vagrant's own reading of the file: machine -> its private network's options.
_NETWORKS = """
require "json"
require "vagrant"
vagrant = Vagrant::Environment.new(cwd: Dir.pwd, ui_class: Vagrant::UI::Silent)
puts JSON.generate(vagrant.machine_names.to_h { |name|
  found = vagrant.machine(name, :libvirt).config.vm.networks
  [name, found.find { |kind, _| kind == :private_network }.last]
})
"""
# Machine -> its provisioners' options.
_PROVISIONERS = """
require "json"
require "vagrant"
vagrant = Vagrant::Environment.new(cwd: Dir.pwd, ui_class: Vagrant::UI::Silent)
puts JSON.generate(vagrant.machine_names.to_h { |name|
  found = vagrant.machine(name, :libvirt).config.vm.provisioners.map { |each| each.config }
  [name, found.map { |c| c.instance_variables.to_h { |v| [v[1..], c.instance_variable_get(v)] } }]
})
"""


def environment(home: Path, **more: str) -> dict[str, str]:
    env = {**os.environ, "VAGRANT_HOME": str(home), "VAGRANT_DOTFILE_PATH": str(home / "dot")}
    return env | {"VAGRANT_CHECKPOINT_DISABLE": "1", **more}


def vagrant(home: Path, *words: str, **more: str) -> Completed:
    return run(["vagrant", *words], env=environment(home, **more), cwd=REPOSITORY, check=False)


@pytest.fixture
def prepared(tmp_path: Path) -> dict[str, str]:
    """All that `vagrant up` asks for, named by its variables; of the image, what is known of it."""
    image = {"boots_by_itself": False, "root": "LABEL=vas-root", "kernel_command_line": "quiet"}
    files = {
        "vas-wheels.tar": "",
        "vas-hadoop.tar": "",
        "key.pub": "ssh-ed25519 AAAA ann\n",
        "image.json": json.dumps(image),
        "settings.yml": "vas_lustre_server_repositories: []\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = {"VAS_ARCHIVES": tmp_path, "VAS_IMAGE": tmp_path, "VAS_SSH_KEY": tmp_path / "key"}
    given["VAS_SETTINGS"] = tmp_path / "settings.yml"
    return {name: str(path) for name, path in given.items()} | {"VAS_DRIVER": "qemu"}


def inventory(told: Path) -> dict[str, Any]:
    program = str(Path(sys.executable).with_name("ansible-inventory"))
    env = {**os.environ, "ANSIBLE_CONFIG": str(REPOSITORY / "ansible/ansible.cfg")}
    found = run([program, "-i", told / "inventory", "--list"], env=env).stdout
    # What a plugin of ours said is marked as no template.
    return dict(json.loads(found, object_hook=lambda o: o.get("__ansible_unsafe", o)))


def test_it_is_valid(tmp_path: Path) -> None:
    done = vagrant(tmp_path, "validate")
    assert done.status == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("VAS_OSS", "none", "VAS_OSS=none is not a number"),
        ("VAS_OSS", "0", "VAS_OSS=0 is not a number from 1"),
        ("VAS_OSS", "81", "more than 80"),
        ("VAS_SUBNET", "10.0.0.0/8", "not an IPv4 network of 24 bits"),
    ],
)
def test_what_cannot_be_meant_is_one_line(tmp_path: Path, name: str, value: str, said: str) -> None:
    done = vagrant(tmp_path, "validate", **{name: value})
    assert done.status != 0
    assert said in done.stderr


def test_a_network_that_is_in_use_is_refused(tmp_path: Path) -> None:
    done = vagrant(tmp_path, "up", "--no-provision", VAS_SUBNET="127.0.0.0/24", VAS_DRIVER="qemu")
    assert done.status != 0
    assert "127.0.0.0/24 is in use here" in done.stderr


def test_a_home_that_qemu_cannot_enter_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    words = ("up", "--no-provision", "mds1")
    done = vagrant(tmp_path, *words, VAS_BOX="vas/guest", VAS_DRIVER="qemu")
    assert done.status != 0
    assert "QEMU's user cannot enter it" in done.stderr
    assert "set VAGRANT_HOME" in done.stderr


def test_machines_are_provisioned_as_a_lab_when_the_last_is_up(
    tmp_path: Path, prepared: dict[str, str]
) -> None:
    env = environment(tmp_path, **prepared)
    done = run(["ruby", "-e", _PROVISIONERS], env=env, cwd=REPOSITORY)
    machines = json.loads(done.stdout)
    assert list(machines) == ["mds1", "oss1", "oss2", "client1"]
    (ansible,) = machines.pop("client1")
    assert not any(machines.values())
    assert ansible["playbook"] == str(REPOSITORY / "ansible/lab.yml")
    assert ansible["config_file"] == str(REPOSITORY / "ansible/ansible.cfg")
    assert ansible["inventory_path"] == str(tmp_path / "dot/vas/inventory")
    assert ansible["extra_vars"] == prepared["VAS_SETTINGS"]
    assert (ansible["limit"], ansible["force_remote_user"]) == ("all", False)


def test_a_machine_s_own_name_has_an_address_that_others_reach(tmp_path: Path) -> None:
    """Else Vagrant writes 127.0.1.1 into /etc/hosts: the ResourceManager would listen there."""
    done = run(["ruby", "-e", _NETWORKS], env=environment(tmp_path), cwd=REPOSITORY)
    networks = json.loads(done.stdout)
    assert {name: network["ip"] for name, network in networks.items() if network["hostname"]} == {
        "mds1": "10.213.0.2",
        "oss1": "10.213.0.11",
        "oss2": "10.213.0.12",
        "client1": "10.213.0.3",
    }


def test_ansible_is_told_of_every_machine(tmp_path: Path, prepared: dict[str, str]) -> None:
    more = {"VAS_OSS": "3", "VAS_SUBNET": "10.99.7.0/24", "VAS_GUEST_MIB": "2000"}
    assert vagrant(tmp_path, "validate", **prepared, **more).status == 0
    told = tmp_path / "dot/vas"
    cluster = load_cluster(told / "cluster.yaml")
    assert cluster.lustre.mgs_nids == ["10.99.7.2@tcp"]
    assert [(h.osts, h.storage_devices, h.address) for h in cluster.hosts] == [
        ([0], ["/dev/vdb"], "10.99.7.11"),
        ([1], ["/dev/vdb"], "10.99.7.12"),
        ([2], ["/dev/vdb"], "10.99.7.13"),
    ]
    assert [g.memory for g in cluster.guests()] == ["2000MiB"] * 3
    found = inventory(told)
    assert sorted(found["vas_lab"]["hosts"]) == ["mds1", "oss1", "oss2", "oss3"]
    assert sorted(found["vas_oss"]["hosts"]) == ["oss1", "oss2", "oss3"]
    assert found["vas_resourcemanager"]["hosts"] == ["client1"]
    variables = found["_meta"]["hostvars"]
    # `up` makes virtual functions at once: no reboot of a storage server comes between.
    assert variables["oss1"]["vas_storage_host_interrupt"] is True
    # The MDT's disk is one machine's; who runs no guest is entered by Vagrant's key.
    assert [n for n, v in variables.items() if "vas_lustre_server_mdt" in v] == ["mds1"]
    reached = {name: (v["ansible_host"], v["ansible_user"]) for name, v in variables.items()}
    assert reached["mds1"] == ("10.99.7.2", "vagrant")
    assert reached["oss3"] == ("10.99.7.13", "vagrant")
    assert reached["client1"] == ("10.99.7.3", "vagrant")
    assert reached["vm3"] == ("10.99.7.103", "vas")
    assert variables["vm3"]["ansible_ssh_private_key_file"] == prepared["VAS_SSH_KEY"]
    assert variables["oss3"]["ansible_ssh_private_key_file"].endswith("oss3/libvirt/private_key")


@pytest.mark.parametrize(("driver", "accelerator"), [("qemu", "qemu"), ("kvm", "kvm")])
def test_guests_of_an_emulated_machine_are_emulated(
    tmp_path: Path, prepared: dict[str, str], driver: str, accelerator: str
) -> None:
    prepared["VAS_DRIVER"] = driver
    assert vagrant(tmp_path, "validate", **prepared).status == 0
    settings = inventory(tmp_path / "dot/vas")["_meta"]["hostvars"]["oss1"]["vas_guest_settings"]
    assert settings == {
        "accelerator": accelerator,
        "authorized_keys": ["ssh-ed25519 AAAA ann"],
    }  # and how an image boots, the role `guest` knows of the image


def test_all_that_up_lacks_is_said_at_once(tmp_path: Path) -> None:
    env = {"VAS_ARCHIVES": str(tmp_path), "VAS_IMAGE": str(tmp_path), "VAS_SSH_KEY": "/no/key"}
    done = vagrant(tmp_path, "up", **env)
    assert done.status != 0
    for said in (
        "VAS_SETTINGS: not named",
        f"no file {tmp_path}/vas-wheels.tar; ./vas provision wheels",
        f"no file {tmp_path}/vas-hadoop.tar; ./vas build",
        f"no file {tmp_path}/image.json; ./vas image build",
        "no file /no/key.pub; ssh-keygen",
        "vagrant up --no-provision",
    ):
        assert said in done.stderr
    assert not (tmp_path / "dot/vas").exists()
