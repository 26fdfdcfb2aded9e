"""Checks where a file may be written to measure a disk: never on what a storage service uses."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from vas_cluster import Cluster
from vas_core.errors import BadInput
from vas_core.root import Root
from vas_core.sizes import format_size

_NO_DISKS = {"lustre", "nfs", "nfs4", "cifs", "9p", "virtiofs", "tmpfs", "ramfs", "proc", "sysfs"}
_FILES_THAT_FIT = 4


def check_place(
    root: Root, cluster: Cluster, machine: str, directory: Path, size_bytes: int
) -> None:
    """Raises BadInput for a place that is not this machine's own disk, or has no room."""
    name = cluster.name_of(machine)
    if cluster.host(name):
        hint = "run it on a guest"
        raise BadInput("is a storage server: its disks are others'", where=name, hint=hint)
    source, kind = mount_of(root, directory)
    if kind in _NO_DISKS:
        hint = "name a directory on this machine's own disk"
        raise BadInput(f"is on {kind}", where=str(directory), hint=hint)
    devices = {os.path.realpath(each) for host in cluster.hosts for each in host.storage_devices}
    if source in devices:
        raise BadInput(f"is on {source}, which is under an OST", where=str(directory))
    free = shutil.disk_usage(directory).free
    if free < size_bytes * _FILES_THAT_FIT:
        hint = f"it takes a {_FILES_THAT_FIT}th of what is free: lower --size"
        raise BadInput(f"has {format_size(free)} free", where=str(directory), hint=hint)


def mount_of(root: Root, directory: Path) -> tuple[str, str]:
    """Returns source and type of a directory's file system, as /proc/self/mounts has them."""
    found, at = ("", ""), Path()
    for line in (root.read("proc/self/mounts") or "").splitlines():
        source, point, kind = line.split()[:3]
        mounted = Path(point.replace("\\040", " "))
        if directory.is_relative_to(mounted) and len(mounted.parts) >= len(at.parts):
            found, at = (source, kind), mounted
    return found
