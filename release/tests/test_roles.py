"""Packages take programs, units and users from Ansible's roles."""

from __future__ import annotations

import tomllib
from pathlib import PurePosixPath

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_release import roles
from vas_release.node_packages import NODE, NODE_TOOLS, STORAGE, programs_of


def test_every_unit_of_a_role_is_in_one_package() -> None:
    packed = [name for tools in NODE_TOOLS for name in roles.units_of(tools.roles)]
    files = (REPOSITORY / "ansible/roles").glob("*/files/*")
    units = {file.name for file in files if file.suffix in (".service", ".timer", ".socket")}
    assert sorted(packed) == sorted(units)


def test_every_program_of_the_project_is_in_one_package() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    packed = [*programs_of(NODE), *programs_of(STORAGE)]
    assert sorted(packed) == sorted(project["scripts"])


def test_daemons_that_an_upgrade_restarts_are_units_of_a_package() -> None:
    units = {name for tools in NODE_TOOLS for name in roles.units_of(tools.roles)}
    assert set(roles.restarted_daemons()) <= units


@pytest.mark.machine
def test_the_templates_of_hadoop_are_whole_without_a_site() -> None:
    hadoop = roles.hadoop_of_nodes()
    for text in (hadoop.script, hadoop.modulefile):
        assert "{{" not in text and "Ansible" not in text
    run(["sh", "-n"], stdin=hadoop.script)
    assert hadoop.program == PurePosixPath("/usr/lib/vas/hadoop.sh")
    assert "prepend-path PATH /usr/lib/vas/bin\n" in hadoop.modulefile
    assert set(hadoop.commands) == {"hadoop", "hdfs", "yarn", "mapred"}
