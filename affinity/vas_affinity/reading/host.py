"""A host, or a tree captured from one, as a snapshot."""

from __future__ import annotations

import socket

from vas_affinity.reading.files import Files, Tree
from vas_affinity.reading.pci import read_devices
from vas_affinity.reading.sysfs import read_topology
from vas_affinity.snapshot import Snapshot
from vas_core.root import Root


def read_snapshot(root: Tree, *, name: str | None = None) -> Snapshot:
    """What runs under this root. A captured tree has no guests and threads, and says so.

    `name` is the host's. Raises BadInput without a CPU in sysfs.
    """
    files = Files(root)
    host = name or socket.gethostname().partition(".")[0]
    topology = read_topology(files, host)
    devices = read_devices(files, topology)
    if root != Root():
        for what in ("guests", "threads"):
            files.note(what, "a captured tree has none")
    return Snapshot(host=host, topology=topology, devices=devices, unread=tuple(files.unread))
