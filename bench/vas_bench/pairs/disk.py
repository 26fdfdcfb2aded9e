"""Finds the disk that a directory is on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vas_core.errors import NotHere
from vas_core.root import Root

_HINT = "name the CPU of its interrupts by --interrupt-cpu"


def disk_under(root: Root, directory: Path) -> str:
    """Returns the kernel's name of the whole disk below a directory, like `sda`.

    Looks through partitions, device mapper and md. Raises NotHere where none is known, or there are
    several.
    """
    device = directory.stat().st_dev
    found = root.path(f"sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not found.exists():
        what = "its file system names no disk, as btrfs, overlayfs and tmpfs do not"
        raise NotHere(what, where=str(directory), hint=_HINT)
    disks = sorted(set(_disks(found.resolve())))
    if len(disks) > 1:
        what = f"several disks are below it: {', '.join(disks)}"
        raise NotHere(what, where=str(directory), hint=_HINT)
    return disks[0]


def _disks(device: Path) -> Iterator[str]:
    if (device / "partition").exists():
        device = device.parent
    below = sorted((device / "slaves").glob("*"))
    for each in below:
        yield from _disks(each.resolve())
    if not below:
        yield device.name
