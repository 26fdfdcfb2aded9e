"""Defines options that several commands of `vas layout` share, and reads what they name."""

from __future__ import annotations

from pathlib import Path

import click

from vas_cluster import Cluster, default_path, load_cluster
from vas_core.cli import SizeType, note
from vas_core.errors import BadInput, NotHere, VasError
from vas_layout.lfs import Lfs
from vas_layout.owners import OstOwners

_DEFAULT_SPLIT = "128MiB"

# LayoutReader decides whether a path is readable: `lfs` may read more than this user.
PATH = click.Path(path_type=Path, readable=False)
cluster_option = click.option(
    "--cluster",
    "map_file",
    type=PATH,
    help="Path of the site's map [default: as `vas cluster show`].",
)
split_option = click.option(
    "--split",
    type=SizeType(),
    default=_DEFAULT_SPLIT,
    show_default=True,
    help="Size of an input split.",
)
osts_option = click.option(
    "--osts", type=click.IntRange(1), help="Number of OSTs [default: those in the map, or all]."
)
pool_option = click.option("--pool", help="Name of an OST pool; other OSTs are not used.")


def load_map(map_file: Path | None) -> Cluster:
    """Returns the map in `map_file`; None is the map's default place.

    Raises DocumentProblems for a missing or wrong map.
    """
    return load_cluster(map_file or default_path())


def osts_to_plan(osts: int | None, pool: str | None, map_file: Path | None) -> int | None:
    """Returns the number of OSTs to plan for: `osts`, else those in the map.

    Returns None for all OSTs, without a map, and for all of a pool, whose size the map does not
    hold. Raises DocumentProblems for a wrong map.
    """
    if osts is not None or pool is not None:
        return osts
    if map_file is None and not default_path().exists():
        return None
    return sum(len(host.osts) for host in load_map(map_file).hosts) or None


def check_pool(pool: str | None, directory: Path) -> None:
    """Raises BadInput if the pool does not exist, as Lustre 2.15 would then use any OST.

    Does nothing without a pool, and only prints a note if `lfs` is not installed. Raises
    LayoutUnavailableError if `lfs` fails.
    """
    if pool is None:
        return
    try:
        known = Lfs().pools(directory)
    except NotHere:
        note(f"lfs is not installed: cannot see whether pool {pool} exists")
        return
    if pool not in known:
        raise BadInput(
            f"pool {pool} does not exist", where=str(directory), hint=f"pools: {', '.join(known)}"
        )


def owners_of(cluster: Cluster) -> OstOwners:
    """Returns the owners of OSTs as this client's mount of the map's file system sees them."""

    def instance() -> str | None:
        try:
            return Lfs().instance(Path(cluster.lustre.mount))
        except VasError:
            return None

    return OstOwners(cluster, instance=instance)
