"""The user's options on a site, and checks of them from a client of its Lustre."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from vas_cluster import Cluster
from vas_cluster.model import Flock
from vas_core.errors import BadInput
from vas_core.root import Root

Drops = Literal["none", "guests", "all"]


@dataclass(frozen=True, kw_only=True)
class SiteOptions:
    """A site as the user names it.

    `directory` is where data goes, a path below the mount and in HDFS; `reach` is `Nodes`'; `drops`
    says whose page caches may be emptied.
    """

    cluster_file: Path
    hadoop_conf: Path | None = None
    directory: str = "/"
    reach: str = ""
    drops: Drops = "none"


def check_options(options: SiteOptions) -> None:
    """Raises BadInput for options that do not go together."""
    if options.drops != "none" and not options.reach:
        hint = "say by --reach how to get onto its nodes"
        raise BadInput("page caches are emptied on nodes", where="--may-drop-caches", hint=hint)
    if ".." in PurePosixPath(options.directory).parts:
        hint = "name it from the mount on"
        raise BadInput(f"{options.directory} leads upwards", where="--directory", hint=hint)


def check_mount(root: Root, cluster: Cluster) -> None:
    """Raises BadInput where Lustre is not mounted here, or otherwise than the map says."""
    mount = Path(cluster.lustre.mount)
    if not mount.is_dir():
        hint = "run this where Lustre is mounted"
        raise BadInput("is not there", where=str(mount), hint=hint)
    check_lock_mode(root, cluster)


def check_lock_mode(root: Root, cluster: Cluster) -> None:
    """Raises BadInput where this machine has Lustre mounted in another lock mode than the map's."""
    wanted = cluster.lustre.flock
    for line in (root.read("proc/mounts") or "").splitlines():
        _, point, kind, options = line.split()[:4]
        if (point, kind) != (cluster.lustre.mount, "lustre"):
            continue
        modes = [mode for mode in Flock if mode.value in options.split(",")]
        if modes and modes[0] is not wanted:
            hint = f"the map says {wanted.value}: mount it so, or change the map"
            raise BadInput(f"is mounted with {modes[0].value}", where=point, hint=hint)
