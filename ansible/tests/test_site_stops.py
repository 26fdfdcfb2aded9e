"""Playbooks by Ansible itself: what one machine lacks stops the run for all, before a change.

Every machine of the map is this one, which is none of them; check mode, so that nothing is changed
even if a run should not stop.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from vas_core.process import Completed, run

ANSIBLE = Path(__file__).parents[1]
EXAMPLE = ANSIBLE.parent / "cluster/examples/four-oss.yaml"
GOOD, LOGIN = "oss01.hpc.example", "login1.hpc.example"
SILENT, WRONG = "oss03.hpc.example", "oss04.hpc.example"
_MISTAKES = """
vas_guest_settings: {acelerator: qemu, mtu: large, authorized_keys: [me]}
vas_hadoop_users: ann
vas_hostcheck_accepted: [tiem]
vas_guest_image: /nowhere
vas_storage_host_interrupt: perhaps
vas_guest_placement: "{{ lookup('ansible.builtin.file', '/nowhere/id_ed25519.pub') }}"
vas_lustre_client_repository: {url: "https://repo/el{{ ansible_facts.distribution_major_version }}"}
"""
CHECKS = (
    "name, time, links, pf, mtu, dns, subnet, firewall, kvm, iommu, vfs, memory, cpus, disk, "
    "headers"
)


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    """One storage server is accepted as it is, the others are not."""
    shutil.copy(EXAMPLE, tmp_path / "cluster.yaml")
    python = "/usr/bin/python3"
    everywhere = (
        f"ansible_connection: local\nansible_become: false\nansible_python_interpreter: {python}\n"
        f"vas_hadoop_container_executor: {tmp_path}/container-executor\n"
        "vas_hadoop_kerberos_realm: HPC.EXAMPLE\nvas_hadoop_kerberos_keytabs: /tmp\n"
        "vas_program_archive: ''\nvas_hadoop_archive: ''\nvas_guest_image: ''\n"
        "vas_guest_settings: {authorized_keys: ['{{ key }}']}\nkey: ssh-ed25519 AAAA me\n"
    )
    program = b"\x7fELF\0../etc/hadoop/container-executor.cfg\0"
    (tmp_path / "container-executor").write_bytes(program)
    files = {
        "vas.yml": "plugin: vas_cluster\nfile: cluster.yaml\n",
        "group_vars/all.yml": everywhere,
        f"host_vars/{GOOD}.yml": f"vas_hostcheck_accepted: [{CHECKS}]\n",
        # Nobody listens there.
        f"host_vars/{SILENT}.yml": "ansible_connection: ssh\nansible_host: 127.0.0.1\n"
        "ansible_port: 1\n",
        # The project's, but for what it says of errors.
        "ansible.cfg": (ANSIBLE / "ansible.cfg")
        .read_text()
        .replace("any_errors_fatal = True\n", ""),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("= ../", f"= {ANSIBLE.parent}/"))
    return tmp_path / "vas.yml"


def site(inventory: Path, limit: str) -> Completed:
    return play(inventory, "site.yml", "--check", "--limit", f"localhost,{limit}")


def play(inventory: Path, playbook: str, *options: str) -> Completed:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(inventory.with_name("ansible.cfg")),
        "ANSIBLE_ROLES_PATH": str(ANSIBLE / "roles"),
        "ANSIBLE_NOCOLOR": "1",
    }
    words = ["ansible-playbook", "-i", inventory, ANSIBLE / playbook, *options]
    return run(words, check=False, env=environment, timeout_seconds=300)


pytestmark = [
    *(pytest.mark.machine, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(400)),
]


def test_what_one_machine_lacks_stops_the_run_for_all(inventory: Path) -> None:
    stopped = site(inventory, f"{GOOD},oss02.hpc.example")
    assert stopped.status != 0
    assert "oss02.hpc.example: name: the machine calls itself" in stopped.stdout
    assert f"ok: [{GOOD}]" in stopped.stdout
    assert (
        "TASK [vas.site.hostcheck : Check the machine and fail with all findings]" in stopped.stdout
    )
    assert "TASK [vas.site.program" not in stopped.stdout


def test_a_login_node_is_looked_at_before_any_machine_is_changed(inventory: Path) -> None:
    map_file = inventory.with_name("cluster.yaml")
    clients = f"\n  clients:\n    - {{name: {LOGIN}, address: 192.0.2.21}}\n"
    map_file.write_text(EXAMPLE.read_text().replace("\nyarn:\n", f"\nyarn:{clients}", 1))
    stopped = site(inventory, f"{GOOD},{LOGIN}")
    assert stopped.status != 0
    said = " ".join(stopped.stdout.split())
    assert f"{LOGIN}: name: the machine calls itself" in said
    assert f"{LOGIN}: address: no interface has the address 192.0.2.21" in said
    assert "vas01.hpc.example, vas02.hpc.example, vas03.hpc.example, vas04.hpc.example," in said
    assert "TASK [vas.site.program" not in stopped.stdout


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh")
def test_one_that_does_not_answer_stops_it_too(inventory: Path) -> None:
    stopped = site(inventory, f"{GOOD},{SILENT}")
    assert stopped.status != 0
    said = " ".join(stopped.stdout.split())
    assert f"{SILENT}: ssh: accepts no login" in said
    assert "start it, correct its address in the map, or allow this login" in said
    assert "TASK [vas.site.program" not in stopped.stdout


@pytest.mark.parametrize(
    "broken",
    [
        "ansible_python_interpreter: /nowhere/python3",
        "vas_hadoop_users: ['{{ ansible_facts.nowhere }}']",
    ],
)
def test_one_that_cannot_be_looked_at_stops_it_too(inventory: Path, broken: str) -> None:
    """By what the module says, and by what Ansible says before there is a module."""
    (inventory.parent / f"host_vars/{SILENT}.yml").write_text(f"{broken}\n")
    stopped = site(inventory, f"{GOOD},{SILENT}")
    assert stopped.status != 0
    said = " ".join(stopped.stdout.split())
    assert f"{SILENT}: ssh: cannot be read, " in said
    assert "mend its login, sudo, or /usr/bin/python3" in said
    assert "TASK [vas.site.program" not in stopped.stdout


def test_every_mistake_of_a_site_s_variables_is_said_before_any_machine_is_asked(
    inventory: Path,
) -> None:
    (inventory.parent / f"host_vars/{WRONG}.yml").write_text(_MISTAKES)
    stopped = site(inventory, WRONG)
    said = " ".join(stopped.stdout.split())
    for line in (
        "vas_guest_image: /nowhere/image.json does not exist here; make it: `vas image build",
        "vas_guest_settings: acelerator: unknown key; did you mean accelerator?",
        'vas_guest_settings: mtu: "large" is not an integer',
        "vas_hadoop_users: is not a list; write it as YAML, in group_vars: vas_hadoop_users: [ann]",
        "Got no match for: tiem; see ansible/roles/hostcheck/README.md",
        "vas_storage_host_interrupt:",
        "Unable to access the file '/nowhere/id_ed25519.pub': File not found; make the key:",
    ):
        assert line in said, line
    assert "authorized_keys" not in said
    assert "TASK [vas.site.hostcheck" not in said


@pytest.mark.parametrize("back", [True, False])
def test_a_server_stays_marked_until_its_guests_are_back(inventory: Path, back: bool) -> None:
    mark = inventory.with_name("cluster.yaml.evacuated")
    mark.write_text(f"{GOOD}\noss02.hpc.example\n")
    group = inventory.with_name("back")
    group.write_text(f"[vas_readmitted]\n{'vas01' if back else 'vas02'}.hpc.example\n")
    first = "Check that every guest of the storage server is back"
    last = ("--start-at-task", first, "-i", str(group))
    readmitted = play(inventory, "readmit.yml", "-e", f"vas_evacuate={GOOD}", *last)
    assert (readmitted.status == 0) == back
    assert ("stays marked, as vas01.hpc.example did not come back" in readmitted.stdout) != back
    assert mark.read_text().split() == [*([] if back else [GOOD]), "oss02.hpc.example"]


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh")
def test_no_release_comes_while_a_guest_is_out_of_reach(inventory: Path) -> None:
    silent = inventory.parent / "host_vars/vas02.hpc.example.yml"
    shutil.copy(inventory.parent / f"host_vars/{SILENT}.yml", silent)
    words = ("--check", "-e", "vas_hadoop_class_archive=false", "-e", "ansible_ssh_retries=0")
    stopped = play(inventory, "rolling-upgrade.yml", *words)
    assert stopped.status != 0
    said = " ".join(stopped.stdout.split())
    assert "nothing was upgraded, as vas02.hpc.example did not answer" in said
    assert "TASK [vas.site.program" not in stopped.stdout
    assert "TASK [Drain the guest]" not in stopped.stdout
