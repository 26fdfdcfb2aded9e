"""Makes the inside of a lab: its /run, its /etc/hosts, its mount of "Lustre".

Called by the supervisor, in a mount namespace that ends with it: nothing here needs an undo.
"""

from __future__ import annotations

from pathlib import Path

from vas_core.errors import BadInput
from vas_core.process import run

RUN_VAS = Path("/run/vas")
RUN_LUSTRE = RUN_VAS / "lustre"
RUN_ROUTE = RUN_VAS / "route"


def mount_run() -> None:
    """Mounts a new /run that has only the directories that a lab uses."""
    run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"])
    for directory in (RUN_VAS, Path("/run/netns")):
        directory.mkdir(parents=True)


def route_state(node: str) -> Path:
    """Returns where other nodes see a node's own RUN_ROUTE, the route switcher's state."""
    return RUN_VAS / "nodes" / node / "route"


def show_lustre_state(lustre_state: Path) -> None:
    """Shows the stand-in's state at a path short enough for a socket."""
    RUN_LUSTRE.mkdir()
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
