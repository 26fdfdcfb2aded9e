"""The options that name a real site to a command."""

from __future__ import annotations

from pathlib import Path
from typing import cast, get_args

import click

from vas_bench.site.checks import Drops, SiteOptions
from vas_core.errors import BadInput
from vas_core.options import shared

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
