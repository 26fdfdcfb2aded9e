"""The programs of the role `hadoop` and those of an image, by its own tasks in a directory."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from vas_ansible.archives import pack
from vas_ansible.readme import ROLES
from vas_core.process import run

pytestmark = [
    *(pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(1200)),
    pytest.mark.skipif(os.geteuid() != 0, reason="the role's files are root's"),
]
_PLAY = """
- hosts: localhost
  connection: local
  gather_subset: ["!all", "!min", distribution]
  tasks:
    - ansible.builtin.include_role:
        name: hadoop
        tasks_from: "{{ part }}"
"""


def play(directory: Path, tasks: str, *words: str) -> int:
    """Runs tasks of the role; returns how many of them changed something."""
    variables = {
        "part": tasks,
        "vas_hadoop_archive": str(directory / "hadoop.tar"),
        "__vas_hadoop_directory": str(directory / "vas"),
        "__vas_hadoop_commands": [str(directory / "hadoop"), str(directory / "yarn")],
        "__vas_hadoop_daemons": [],
    }
    (directory / "play.yml").write_text(_PLAY)
    program = Path(sys.executable).with_name("ansible-playbook")
    argv = [program, "-i", "localhost,", "-e", json.dumps(variables), *words]
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROLES.parent / "ansible.cfg")}
    environment |= {"ANSIBLE_INVENTORY_ENABLED": "host_list", "ANSIBLE_NOCOLOR": "1"}
    environment |= {"ANSIBLE_HOME": str(directory / "home"), "LC_ALL": "C.UTF-8"}
    done = run([*argv, directory / "play.yml"], env=environment)
    counted = re.search(r"changed=(\d+)", done.stdout)
    assert counted, done.stdout
    return int(counted[1])


def look(directory: Path) -> dict[str, str]:
    """What there is: each file's text, each link's target."""
    found = {}
    for path in sorted((directory / "vas").rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(directory))] = f"-> {path.readlink()}"
        elif path.is_file():
            found[str(path.relative_to(directory))] = path.read_text()
    return found


def _image(directory: Path) -> None:
    for name in ("hadoop", "plugins"):
        (directory / "vas" / name).mkdir(parents=True)
        (directory / "vas" / name / "an.jar").write_text("the image's")
    (directory / "vas" / "java").symlink_to("/usr/lib/jvm/of-the-image")
    (directory / "vas" / "log4j.properties").write_text("the image's\n")


def _archive(directory: Path) -> None:
    jar = directory / "new-1.jar"
    jar.write_text("the archive's")
    pack(directory / "hadoop.tar", {"hadoop/new-1.jar": jar, "plugins/new-1.jar": jar})


def test_an_archive_takes_the_place_of_an_image_s_programs_until_it_goes(tmp_path: Path) -> None:
    _archive(tmp_path)
    _image(tmp_path)
    before = look(tmp_path)
    before.pop("vas/log4j.properties")

    assert play(tmp_path, "install.yml", "--check") > 0
    assert before.items() <= look(tmp_path).items()
    assert play(tmp_path, "install.yml") > 0
    assert play(tmp_path, "install.yml") == play(tmp_path, "install.yml", "--check") == 0
    there = look(tmp_path)
    assert (tmp_path / "vas/hadoop/new-1.jar").read_text() == "the archive's"
    assert there["vas/image-plugins/an.jar"] == "the image's"
    assert there["vas/java"] == "-> /usr/lib/jvm/of-the-image"

    assert play(tmp_path, "programs_absent.yml", "--check") > 0
    assert look(tmp_path) == there
    assert play(tmp_path, "programs_absent.yml") > 0
    after = look(tmp_path)
    assert after.pop("vas/log4j.properties")
    assert after == before
    assert play(tmp_path, "programs_absent.yml") == 0


def test_without_an_image_nothing_is_left(tmp_path: Path) -> None:
    _archive(tmp_path)
    (tmp_path / "yarn").write_text("somebody else's")
    assert play(tmp_path, "install.yml") > 0
    assert (tmp_path / "hadoop").readlink() == tmp_path / "vas/hadoop.sh"
    shown = run([tmp_path / "hadoop", "classpath"]).stdout
    assert shown.endswith(f"{tmp_path}/vas/hadoop/*:{tmp_path}/vas/plugins/*\n")
    assert (tmp_path / "vas/plugins/new-1.jar").read_text() == "the archive's"
    assert play(tmp_path, "programs_absent.yml") > 0
    assert look(tmp_path) == {}
    assert not (tmp_path / "hadoop").is_symlink()
    assert (tmp_path / "yarn").read_text() == "somebody else's"


def test_an_image_s_programs_stay_where_no_archive_was(tmp_path: Path) -> None:
    _image(tmp_path)
    before = look(tmp_path)
    assert play(tmp_path, "programs_absent.yml") == 0
    assert look(tmp_path) == before
