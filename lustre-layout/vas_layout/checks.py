"""Checks for `vas doctor`: the requirements of `vas layout` on a machine."""

from __future__ import annotations

import os
from collections.abc import Iterator

from vas_core.doctor import DoctorFinding
from vas_core.root import Root


def check(root: Root) -> Iterator[DoctorFinding]:
    """Yields one finding: whether a Lustre client runs on this machine."""
    version = root.read("sys/fs/lustre/version")
    if version and "VAS_LAB_MOUNT" in os.environ:
        version += ", the lab's stand-in"
    yield DoctorFinding(
        name="Lustre client",
        ok=version is not None,
        found=version or "no",
        needed_for="layout show, put, fix outside the lab",
        fix="on a site: mount the Lustre client; in the lab a stand-in answers",
        optional=True,
    )
