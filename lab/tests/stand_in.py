"""Starting the stand-in for Lustre without namespaces, and programs in it."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from vas_core.process import Completed, run
from vas_lab.lustre.stand_in import LabLustre


def start_lab(state: Path, **changes: object) -> tuple[LabLustre, subprocess.Popen[bytes]]:
    """A prepared stand-in and its running MDS."""
    _needs_xattrs(state)
    options = {"fsname": "testfs", "osts": [0, 1, 2, 3], **changes}
    lab = LabLustre(state_dir=state, mount=state / "data", **options)  # type: ignore[arg-type]
    lab.prepare()
    mds = subprocess.Popen(lab.mds_argv())
    try:
        lab.wait_ready()
    except BaseException:
        mds.kill()
        mds.wait()
        raise
    return lab, mds


def stop(mds: subprocess.Popen[bytes]) -> None:
    mds.terminate()
    assert mds.wait(10) == 0


def in_lab(lab: LabLustre, command: str, *, check: bool = True) -> Completed:
    """Runs a shell command as a child of the lab, in its mount."""
    return run(
        ["bash", "-c", command],
        env=lab.environment(),
        cwd=lab.mount,
        check=check,
        timeout_seconds=60,
    )


def _needs_xattrs(directory: Path) -> None:
    try:
        os.setxattr(directory, "user.vas", b"1")
    except OSError as refused:
        if refused.errno in (errno.EOPNOTSUPP, errno.EPERM):
            pytest.skip(f"{directory}: this file system has no user xattrs")
        raise
