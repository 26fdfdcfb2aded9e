"""Files in a directory that a group shares (2775), as a container of the unit writes them."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

from vas_cluster.hadoop import configuration_xml
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_lab.sites import lab_site_yaml
from vas_lab.spec import find_java
from vas_tests.suid_sgid import restrict
from vas_yarn.jars import find_hadoop, find_plugins

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="a user of its own needs root"),
]
UNIT = REPOSITORY / "yarn/systemd/vas-nodemanager.service"
GROUP = 7001


def unit() -> dict[str, str]:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(UNIT.read_text())
    return dict(parser["Service"])


@pytest.fixture(scope="module")
def readable() -> Iterator[Path]:
    """A directory with the jars that every user can read, and so is what is made in it.

    The clone, and each of its files, may be its owner's alone.
    """
    before = os.umask(0o022)
    try:
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            shutil.copytree(find_hadoop(), directory / "hadoop")
            shutil.copy(find_plugins(), directory / "plugins.jar")
            run(["chmod", "-R", "go=rX", directory])
            yield directory
    finally:
        os.umask(before)


def put(readable: Path, case: str, *, restricted: bool) -> subprocess.CompletedProcess[str]:
    """`hadoop fs -put` into shared/new/, by a user under the unit's umask."""
    directory = readable / case
    make_site(directory)
    path = f"{directory}:{readable}/hadoop/*:{readable}/plugins.jar"
    shell = [str(find_java() / "bin/java"), "-Xmx200m", "-cp", path, "org.apache.hadoop.fs.FsShell"]
    make = ["-mkdir", "lustre:///shared/new"]
    words = ["-put", "-d", f"file://{directory}/file", "lustre:///shared/new/file"]
    become = as_nobody(restricted)
    for argv in ([*shell, *make], [*shell, *words]):
        environment = {"PATH": os.environ["PATH"], "HADOOP_USER_NAME": "nobody"}
        done = subprocess.run(
            argv,
            preexec_fn=become,
            text=True,
            capture_output=True,
            env=environment,
            cwd=directory,
            timeout=120,
        )
        if done.returncode != 0:
            return done
    return done


def make_site(directory: Path) -> None:
    """Makes a mount with a directory that the group shares, a file to put there, and the site."""
    shared = directory / "mount/shared"
    shared.mkdir(parents=True)
    os.chown(shared, 0, GROUP)
    shared.chmod(0o2775)
    site = yaml.safe_load(lab_site_yaml(1))
    site["lustre"]["mount"] = str(directory / "mount")
    (directory / "cluster.yaml").write_text(yaml.safe_dump(site))
    (directory / "file").write_text("a line\n")
    properties = {
        "fs.lustre.impl": "org.vas.filesystem.LustreFileSystem",
        "vas.cluster.file": str(directory / "cluster.yaml"),
        "vas.layout.required": "false",
    }
    (directory / "core-site.xml").write_text(configuration_xml(properties))


def as_nobody(restricted: bool) -> Callable[[], None]:
    """Returns what makes a process nobody's, in the group, with the unit's umask and seccomp."""
    # Read before: the clone may be closed to the user that the process becomes.
    nobody, umask = pwd.getpwnam("nobody"), int(unit()["UMask"], 8)

    def become() -> None:
        os.setgroups([GROUP])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)
        os.umask(umask)
        if restricted:
            restrict()

    return become


def test_H8_a_job_writes_into_a_directory_that_a_group_shares(readable: Path) -> None:
    done = put(readable, "unit", restricted=unit().get("RestrictSUIDSGID") == "yes")
    assert done.returncode == 0, done.stderr
    made = readable / "unit/mount/shared/new"
    assert (made / "file").read_text() == "a line\n"
    assert made.stat().st_gid == (made / "file").stat().st_gid == GROUP
    assert made.stat().st_mode & stat.S_ISGID


def test_H8_systemd_s_restriction_would_fail_it(readable: Path) -> None:
    done = put(readable, "restricted", restricted=True)
    assert done.returncode != 0
    assert "Operation not permitted" in done.stderr
