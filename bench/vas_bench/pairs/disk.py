"""Finds the disk that a directory is on."""

from __future__ import annotations

import os
from pathlib import Path

from vas_core.errors import NotHere
from vas_core.root import Root

_HINT = "name the CPU of its interrupts by --interrupt-cpu"


def disk_under(root: Root, directory: Path) -> str:
    """Returns the kernel's name of the whole disk below a directory, like `sda`.

    Looks through partitions and device mapper. Raises NotHere where there is none, as for tmpfs, or
    more than one.
    """
    device = directory.stat().st_dev
    found = root.path(f"sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not found.exists():
        raise NotHere("no disk is below it", where=str(directory), hint=_HINT)
    found = found.resolve()
    while True:
        if (found / "partition").exists():
            found = found.parent
        below = sorted((found / "slaves").glob("*"))
        if not below:
            return found.name
        if len(below) > 1:
            names = ", ".join(each.name for each in below)
            raise NotHere(f"several disks are below it: {names}", where=str(directory), hint=_HINT)
        found = below[0].resolve()
