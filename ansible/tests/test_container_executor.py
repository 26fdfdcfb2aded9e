"""The setuid program's surroundings: what the role installs, as Hadoop's program checks it.

A program that makes the same checks stands for Hadoop's, whose sources no registry has.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from vas_ansible.checks.executor import bytes_of, examine_executor
from vas_core.process import Completed, run
from vas_core.repository import REPOSITORY

SOURCE = REPOSITORY / "tests/vas_tests/container_executor.c"
TASKS = REPOSITORY / "ansible/roles/hadoop/tasks/executor.yml"
NODE = "vas01.hpc.example"


def as_root(test: Callable[..., None]) -> Callable[..., None]:
    """Marks a test that builds the program and runs it as another user."""
    for mark in (
        pytest.mark.machine,
        pytest.mark.skipif(os.geteuid() != 0, reason="a setuid program needs root"),
        pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
    ):
        test = mark(test)
    return test


# The role's paths below a file system of the test's own, whose directories are root's.
_SCRIPT = """
mount -t tmpfs -o mode=0755 tmpfs /mnt
mkdir -p /mnt/usr/lib/vas
printf 'root:x:0:\\nhadoop:x:862:yarn\\nother:x:863:\\n' >/mnt/group
printf 'root:x:0:0::/:/bin/sh\\nyarn:x:860:862::/:/bin/sh\\n' >/mnt/passwd
mount --bind /mnt/group /etc/group
mount --bind /mnt/passwd /etc/passwd
{installed}
{broken}
cd /mnt/usr/lib/vas
exec setpriv --reuid=860 --regid=862 --clear-groups {more} ./container-executor --checksetup
"""


def task(name: str) -> dict[str, Any]:
    (found,) = [one for one in yaml.safe_load(TASKS.read_text()) if one["name"] == name]
    module: dict[str, Any] = found.get("ansible.builtin.copy") or found["ansible.builtin.file"]
    return module


def installed(program: Path) -> str:
    """The shell's words for what the role's tasks install, with their owners and modes."""
    made = task("Install the setuid program for the daemons' group alone")
    directory = task("Create the setuid program's configuration directory")
    file = task("Write the setuid program's configuration")

    def own(module: dict[str, Any]) -> str:
        return f"-o {module['owner']} -g {module['group']} -m {module['mode']}"

    return "\n".join(
        (
            f"install {own(made)} {program} /mnt/usr/lib/vas/container-executor",
            f"install -d {own(directory)} /mnt{directory['path']}",
            f"install {own(file)} /dev/stdin /mnt{file['dest']} <<'END'\n{file['content']}END",
        )
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("executor") / "container-executor"
    run(["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-o", made, SOURCE], timeout_seconds=60)
    return made


def checksetup(program: Path, broken: str = "", more: str = "") -> Completed:
    script = _SCRIPT.format(installed=installed(program), broken=broken, more=more)
    words = ["unshare", "--mount", "sh", "-euc", script]
    return run(words, check=False, timeout_seconds=30)


@as_root
def test_the_program_accepts_what_the_role_installs(program: Path) -> None:
    done = checksetup(program)
    assert (done.status, done.stderr) == (0, "")


@as_root
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("chmod 4755 /mnt/usr/lib/vas/container-executor", "may be used by everybody"),
        ("chmod 2050 /mnt/usr/lib/vas/container-executor", "is not setuid"),
        ("chmod g+w /mnt/usr/lib/etc/hadoop/container-executor.cfg", "others than root"),
        ("chown yarn /mnt/usr/lib/etc/hadoop/container-executor.cfg", "others than root"),
        ("chmod g+w /mnt/usr/lib", "others than root"),
        ("chmod o+w /mnt/usr/lib/etc", "others than root"),
        ("rm /mnt/usr/lib/etc/hadoop/container-executor.cfg", "No such file"),
        (
            "sed -i s/group=hadoop/group=other/ /mnt/usr/lib/etc/hadoop/container-executor.cfg",
            "is not of the group",
        ),
    ],
)
def test_each_right_that_is_wrong_is_refused(program: Path, broken: str, why: str) -> None:
    done = checksetup(program, broken)
    assert done.status in (22, 24)
    assert why in done.stderr


@as_root
def test_it_needs_the_new_rights_that_the_drop_in_leaves_it(program: Path) -> None:
    done = checksetup(program, more="--no-new-privs")
    assert done.status == 22
    assert "NoNewPrivileges" in done.stderr


@as_root
def test_preflight_takes_it_for_a_program_of_the_role_s_configuration(program: Path) -> None:
    variables = {"vas_hadoop_container_executor": str(program)}
    assert [*examine_executor(NODE, variables, bytes_of)] == []


def test_the_configuration_lets_no_daemon_and_no_system_user_start_a_container() -> None:
    content = task("Write the setuid program's configuration")["content"]
    settings = dict(line.split("=") for line in content.splitlines())
    prefix = "yarn.nodemanager"
    assert settings.pop(f"{prefix}.linux-container-executor.group") == "hadoop"
    assert settings.pop(f"{prefix}.local-dirs") == "/var/lib/yarn/local"
    assert settings.pop(f"{prefix}.log-dirs") == "/var/log/yarn/containers"
    assert {"root", "yarn", "mapred"} <= {*settings.pop("banned.users").split(",")}
    assert int(settings.pop("min.user.id")) == 1000
    assert settings == {}


ELF = b"\x7fELF....\0"


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (ELF + b"../etc/hadoop/container-executor.cfg\0", None),
        (b"", None),  # `examine_files` names a file that is not there
        (
            ELF + b"/etc/hadoop/container-executor.cfg\0",
            "reads /etc/hadoop/container-executor.cfg, which the role does not write",
        ),
        (ELF, "is not Hadoop's program container-executor"),
        (b"#!/bin/sh\n../etc/hadoop/container-executor.cfg\0", "is not Hadoop's program"),
    ],
)
def test_preflight_names_a_program_that_reads_another_configuration(
    program: bytes, what: str | None
) -> None:
    variables = {"vas_hadoop_container_executor": "/srv/container-executor"}
    found = [*examine_executor(NODE, variables, lambda _: program)]
    assert len(found) == (what is not None)
    for finding in found:
        assert what is not None and what in finding.what
        assert "docs/executor.md" in finding.fix
