"""Which programs a node has when the role `program` has gone: by Ansible itself, in a directory."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
import yaml

from vas_core.process import run

ANSIBLE = Path(__file__).parents[1]
ROLE = ANSIBLE / "roles/program"
_PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.include_role:
        name: program
        tasks_from: links.yml
"""


@pytest.mark.unhurried
@pytest.mark.machine
def test_an_image_s_programs_come_back_and_nobody_s_own_goes(tmp_path: Path) -> None:
    links = {
        "bin/vas": tmp_path / "opt/venv-1/bin/vas",
        "bin/vas-routed": Path("/somebody/s/own"),
        "bin/vas-affinityd": tmp_path / "opt/venv-1/bin/vas-affinityd",
    }
    (tmp_path / "bin").mkdir()
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    image = tmp_path / "image"
    image.mkdir()
    for name in ("vas", "vas-routed", "vas-affinityd", "python"):
        (image / name).touch()
    _play(tmp_path)
    left = {file.name: file.readlink() for file in (tmp_path / "bin").iterdir()}
    assert left == {"vas": image / "vas", "vas-routed": Path("/somebody/s/own")}


@pytest.mark.machine
@pytest.mark.usefixtures("strict_umask")
def test_scientists_may_run_what_root_installs(tmp_path: Path) -> None:
    for_all = yaml.safe_load((ROLE / "vars/main.yml").read_text())["__vas_program_for_all"]
    run([*for_all, "mkdir", tmp_path / "a b"])
    assert (tmp_path / "a b").stat().st_mode & 0o777 == 0o755
    tasks = yaml.safe_load((ROLE / "tasks/install.yml").read_text())
    (block,) = [task["block"] for task in tasks if "block" in task]
    words = [one["ansible.builtin.command"]["argv"] for one in block if "changed_when" in one]
    assert len(words) == 2
    assert all(argv.lstrip("{ ").startswith("__vas_program_for_all") for argv in words)


def _play(directory: Path) -> None:
    places = {"bin": "bin", "image": "image"}
    told = {f"__vas_program_{name}": str(directory / path) for name, path in places.items()}
    told |= {"vas_program_directory": str(directory / "opt")}
    told |= {"ansible_python_interpreter": sys.executable}
    (directory / "play.yml").write_text(_PLAY)
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ANSIBLE / "ansible.cfg")}
    environment |= {"ANSIBLE_HOME": str(directory / "home")}
    program = Path(sys.executable).with_name("ansible-playbook")
    words = ["-i", "localhost,", "-c", "local", "-e", json.dumps(told), directory / "play.yml"]
    run([program, *words], env=environment, timeout_seconds=60)
