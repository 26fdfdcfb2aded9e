"""Makes the inside of a lab: its /run, its /etc/hosts, its mount of "Lustre", its nodes.

Called by the supervisor, in a mount namespace that ends with it: nothing here needs an undo.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.process import run

from vas_lab.enter import NODES, mnt, uts

RUN_LUSTRE = Path("/run/vas/lustre")

# $1 the node's name, $2 the directory that stands for /sys/fs/lustre. A container's kernel may
# refuse a new sysfs (EPERM); then the outer one stays, and only its network devices are wrong.
_SET_UP_NODE = """
hostname "${1#_}"
mount -t sysfs sysfs /sys 2>/dev/null || :
mount -t tmpfs tmpfs /sys/fs
mkdir /sys/fs/lustre
mount --bind "$2" /sys/fs/lustre
"""


def mount_run(lustre_state: Path) -> None:
    """Mounts an empty /run, with the stand-in's state at a path short enough for a socket."""
    run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"])
    for directory in (NODES, RUN_LUSTRE, Path("/run/netns")):
        directory.mkdir(parents=True)
    bind(lustre_state, RUN_LUSTRE)


def bind(source: Path, target: Path) -> None:
    """Shows `source` at `target`, which must be there."""
    run(["mount", "--bind", source, target])


def mount_lustre(backing: Path, mount: Path) -> None:
    """Shows the directory with the files at the mount point of the map.

    A mount point under /run is made; elsewhere it has to be there, because the lab
    changes nothing outside itself. Raises BadInput where it is not.
    """
    if mount.is_relative_to("/run"):
        mount.mkdir(parents=True, exist_ok=True)
    if not mount.is_dir():
        raise BadInput(
            "no such directory, and a lab makes none outside of /run",
            where=f"lustre.mount: {mount}",
            hint="make it, or use a map whose mount point is below /run",
        )
    bind(backing, mount)


def set_up_nodes(nodes: Iterable[str], master: str, sysfs: Path) -> None:
    """Gives every node its host name and its /sys. The network namespaces are there."""
    for node in nodes:
        if node != master:
            _set_up(_own_namespaces(node), node, sysfs)
    # Last: the others start as copies of the master's mounts, and a kernel allows them a
    # sysfs of their own only while nothing covers a part of the one they see.
    _set_up([], master, sysfs)


def _own_namespaces(node: str) -> list[str]:
    for path in (uts(node), mnt(node)):
        path.touch()
    return [
        *("nsenter", f"--net=/run/netns/{node}", "--"),
        *("unshare", f"--uts={uts(node)}", f"--mount={mnt(node)}", "--"),
    ]


def _set_up(prefix: list[str], node: str, sysfs: Path) -> None:
    run([*prefix, "sh", "-euc", _SET_UP_NODE, "sh", node, str(sysfs)])
