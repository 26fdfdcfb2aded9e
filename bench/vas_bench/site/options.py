"""The options that name a real site to a command, and checks of them from a client of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, cast, get_args

import click

from vas_cluster import Cluster
from vas_cluster.mounts import lustre_mounts
from vas_core.errors import BadInput
from vas_core.options import shared
from vas_core.root import Root

Drops = Literal["none", "guests", "all"]


@dataclass(frozen=True, kw_only=True)
class SiteOptions:
    """A site as the user names it.

    `directory` is where data goes, a path below the mount and in HDFS; `reach` is the command
    line that `Nodes` takes; `drops` says whose page caches may be emptied.
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
    for mount in lustre_mounts(root.read("proc/mounts") or ""):
        if str(mount.point) == cluster.lustre.mount and mount.mode is not wanted:
            hint = f"the map says {wanted.value}: mount it so, or change the map"
            what = f"is mounted with {mount.mode.value}"
            raise BadInput(what, where=str(mount.point), hint=hint)


_OPTIONS = (
    click.option(
        "--cluster",
        "cluster_file",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Run on the site of this map, and not in a lab.",
    ),
    click.option(
        "--hadoop-conf",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="The site's Hadoop configuration [default: $HADOOP_CONF_DIR, else /etc/vas/hadoop,"
        " else /etc/hadoop/conf].",
    ),
    click.option(
        "--directory", help="Directory for the data on the site, below the mount [default: /]."
    ),
    click.option("--reach", help="Command that runs a program on a node: 'ssh root@{node}'."),
    click.option(
        "--may-drop-caches",
        type=click.Choice(get_args(Drops)),
        help="Whose page caches may be emptied on the site [default: none].",
    ),
)


def _site(
    cluster_file: Path | None,
    hadoop_conf: Path | None,
    directory: str | None,
    reach: str | None,
    may_drop_caches: str | None,
) -> SiteOptions | None:
    if cluster_file:
        return SiteOptions(
            cluster_file=cluster_file,
            hadoop_conf=hadoop_conf,
            directory=directory or "/",
            reach=reach or "",
            drops=cast(Drops, may_drop_caches or "none"),
        )
    if hadoop_conf or directory or reach or may_drop_caches:
        raise BadInput("these options are for a site", hint="name its map: --cluster FILE")
    return None


site_options = shared("site", _site, *_OPTIONS)
"""Gives a command `site`: the SiteOptions, or None for a lab."""
