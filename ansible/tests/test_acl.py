"""One more user who may read what is made below a directory."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from modules import load

acl = load("modules/vas_acl.py")
pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(os.geteuid() != 0, reason="other users need root"),
]
READER, WRITER, STRANGER = 7101, 7102, 7103


def may(uid: int, *argv: str | Path, umask: int = 0o022) -> bool:
    done = subprocess.run([*map(str, argv)], user=uid, group=uid, extra_groups=[], umask=umask)
    return done.returncode == 0


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    made = tmp_path / "logs"
    made.mkdir(mode=0o770)
    os.chown(made, WRITER, WRITER)
    made.chmod(0o2770)
    return made


@pytest.mark.unhurried
def test_H3_a_user_reads_what_the_daemon_writes_below_whatever_its_umask(directory: Path) -> None:
    assert acl.apply(str(directory), READER, change=True) == (True, True)
    below = directory / "application"
    assert may(WRITER, "mkdir", below, umask=0o077)
    assert may(WRITER, "chmod", "770", below)
    assert may(WRITER, "sh", "-c", f"echo a line >{below}/node", umask=0o027)
    assert may(WRITER, "chmod", "640", below / "node")
    assert may(READER, "cat", below / "node")
    assert not may(READER, "touch", below / "mine")
    assert not may(STRANGER, "ls", directory)
    assert not may(STRANGER, "cat", below / "node")
    assert stat.S_IMODE(directory.stat().st_mode) == 0o2770


def test_a_second_time_changes_nothing_and_a_check_neither(directory: Path) -> None:
    assert acl.apply(str(directory), READER, change=False) == (True, True)
    assert acl.apply(str(directory), READER, change=True) == (True, True)
    assert acl.apply(str(directory), READER, change=True) == (False, True)


def test_H3_a_link_in_its_place_is_refused(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(directory)
    with pytest.raises(OSError):
        acl.apply(str(tmp_path / "link"), READER, change=True)
    assert acl.apply(str(directory), READER, change=False) == (True, True)
