"""A running stand-in, without namespaces: the mount is a directory, the MDS a child process."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vas_core.process import Completed, run
from vas_lab.lustre import LabLustre

sys.path.insert(0, str(Path(__file__).parent))

Shell = Callable[..., Completed]


def _needs_xattrs(directory: Path) -> None:
    try:
        os.setxattr(directory, "user.vas", b"1")
    except OSError as refused:
        if refused.errno in (errno.EOPNOTSUPP, errno.EPERM):
            pytest.skip(f"{directory}: this file system has no user xattrs")
        raise


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., LabLustre]]:
    """Starts a stand-in with its MDS: `start(fsname="lab", osts=[0, 1, 2, 3], ...)`."""
    running: list[subprocess.Popen[bytes]] = []

    def make(**changes: object) -> LabLustre:
        lab, mds = start_lab(tmp_path_factory.mktemp("lab"), **changes)
        running.append(mds)
        return lab

    yield make
    for mds in running:
        stop(mds)


def start_lab(state: Path, **changes: object) -> tuple[LabLustre, subprocess.Popen[bytes]]:
    """A prepared stand-in and its running MDS."""
    _needs_xattrs(state)
    options = {"fsname": "testfs", "osts": [0, 1, 2, 3], **changes}
    lab = LabLustre(state_dir=state, mount=state / "data", **options)  # type: ignore[arg-type]
    lab.prepare()
    mds = subprocess.Popen(lab.mds_argv())
    lab.wait_ready()
    return lab, mds


def stop(mds: subprocess.Popen[bytes]) -> None:
    mds.terminate()
    assert mds.wait(10) == 0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabLustre]:
    """One for a whole module, like the one captured: testfs, 4 OSTs, pools fast and slow."""
    state = tmp_path_factory.mktemp("site")
    # Far from the identifiers of the captured files.
    (state / "mds.json").write_text('{"next": {"files": 1048576}, "pools": {}}')
    lab, mds = start_lab(state)
    for pool, osts in (("fast", "OST[0-1]"), ("slow", "OST[2-3]")):
        in_lab(lab, f"lctl pool_new testfs.{pool} && lctl pool_add testfs.{pool} {osts}")
    yield lab
    stop(mds)


def in_lab(lab: LabLustre, command: str, *, check: bool = True) -> Completed:
    """Runs a shell command as a child of the lab, in its mount."""
    return run(
        ["bash", "-c", command],
        env=lab.environment(),
        cwd=lab.mount,
        check=check,
        timeout_seconds=60,
    )


@pytest.fixture
def shell(site: LabLustre) -> Shell:
    """Runs a shell command in the module's site."""
    return lambda command, **options: in_lab(site, command, **options)
