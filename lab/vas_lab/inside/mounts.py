"""Makes the inside of a lab: its /run, its /etc/hosts, its mount of "Lustre".

The supervisor calls these functions, in a mount namespace that ends with it: none needs an undo.
All functions that mount raise CommandFailed if the kernel refuses.
"""

from __future__ import annotations

from pathlib import Path

from vas_core.process import run
from vas_lab.sites import check_mount

RUN_VAS = Path("/run/vas")
RUN_LUSTRE = RUN_VAS / "lustre"
RUN_ROUTE = RUN_VAS / "route"


def mount_run() -> None:
    """Mounts a new /run that has only the directories that a lab uses."""
    run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"])
    for directory in (RUN_VAS, Path("/run/netns")):
        directory.mkdir(parents=True)


def route_state(node: str) -> Path:
    """Returns the path at which other nodes see a node's RUN_ROUTE, its route switcher's state."""
    return RUN_VAS / "nodes" / node / "route"


def show_lustre_state(lustre_state: Path) -> None:
    """Bind-mounts the stand-in's state at RUN_LUSTRE, a path short enough for a socket."""
    RUN_LUSTRE.mkdir()
    bind(lustre_state, RUN_LUSTRE)


def bind(source: Path, target: Path) -> None:
    """Bind-mounts `source` at `target`, which must exist."""
    run(["mount", "--bind", source, target])


def mount_lustre(backing: Path, mount: Path) -> None:
    """Bind-mounts `backing`, the directory with the files, at the mount point of the map.

    A mount point under /run is made. Raises BadInput for one elsewhere that does not exist.
    """
    check_mount(mount)
    if mount.is_relative_to("/run"):
        mount.mkdir(parents=True, exist_ok=True)
    bind(backing, mount)
