"""`site.yml` by Ansible itself: what one machine lacks stops the run for all, before a change.

Every machine of the map is this one, which is none of them; check mode, so that nothing is changed
even if the run should not stop.
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
GOOD = "oss01.hpc.example"
CHECKS = "name, time, pf, mtu, dns, subnet, firewall, kvm, iommu, vfs, memory, cpus, disk, headers"


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    """One storage server is accepted as it is, the others are not."""
    shutil.copy(EXAMPLE, tmp_path / "cluster.yaml")
    python = "/usr/bin/python3"
    everywhere = (
        f"ansible_connection: local\nansible_become: false\nansible_python_interpreter: {python}\n"
        "vas_hadoop_container_executor: /srv/container-executor\n"
    )
    files = {
        "vas.yml": "plugin: vas_cluster\nfile: cluster.yaml\n",
        "group_vars/all.yml": everywhere,
        f"host_vars/{GOOD}.yml": f"vas_hostcheck_accepted: [{CHECKS}]\n",
        # The project's, but for what it says of errors.
        "ansible.cfg": (ANSIBLE / "ansible.cfg")
        .read_text()
        .replace("any_errors_fatal = True\n", ""),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("= plugins", f"= {ANSIBLE}/plugins"))
    return tmp_path / "vas.yml"


def site(inventory: Path, limit: str) -> Completed:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(inventory.with_name("ansible.cfg")),
        "ANSIBLE_ROLES_PATH": str(ANSIBLE / "roles"),
        "ANSIBLE_NOCOLOR": "1",
    }
    words = ["ansible-playbook", "-i", inventory, "--check", "--limit", f"localhost,{limit}"]
    return run([*words, ANSIBLE / "site.yml"], check=False, env=environment, timeout_seconds=300)


@pytest.mark.machine
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_what_one_machine_lacks_stops_the_run_for_all(inventory: Path) -> None:
    stopped = site(inventory, f"{GOOD},oss02.hpc.example")
    assert stopped.status != 0
    assert "oss02.hpc.example: name: the machine calls itself" in stopped.stdout
    assert f"ok: [{GOOD}]" in stopped.stdout
    assert "TASK [hostcheck : Ensure nothing is wrong with the machine]" in stopped.stdout
    assert "TASK [program" not in stopped.stdout
