"""Options that several commands of `vas guest` share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from vas_cluster import default_path, parse_cluster
from vas_cluster.document import read_text
from vas_cluster.loading import load_cluster
from vas_core.errors import BadInput
from vas_core.options import shared
from vas_core.reading import read_limited
from vas_core.root import Root
from vas_core.xmltree import parse_xml
from vas_guest.desired import DesiredGuest
from vas_guest.pool import read_pool
from vas_guest.settings import DEFAULT, read_settings

path_type = click.Path(path_type=Path)
connect_option = click.option(
    "--connect", metavar="URI", help="URI of libvirt.  [default: virsh's own]"
)
cluster_option = click.option(
    "--cluster",
    "cluster_file",
    type=path_type,
    help="The map.  [default: $VAS_CLUSTER, else /etc/vas/cluster.yaml]",
)
settings_option = click.option(
    "--settings", type=path_type, default=DEFAULT, show_default=True, help="The site's settings."
)
_MOST_XML_BYTES = 16 << 20


def _desired(
    name: str, cluster_file: Path | None, settings: Path, placement: Path | None
) -> DesiredGuest:
    file = cluster_file or default_path()
    text, problems = read_text(file)
    cluster = load_cluster(file) if problems else parse_cluster(text, file)
    called = cluster.name_of(name)
    if cluster.host_by_guest(called) is None:
        known = ", ".join(guest.name for guest in cluster.guests())
        raise BadInput("is not a guest of the map", where=name, hint=f"it has {known}")
    placed = (
        parse_xml(read_limited(placement, _MOST_XML_BYTES), where=str(placement))
        if placement
        else None
    )
    desired = DesiredGuest(cluster, text, cluster.guest(called), read_settings(settings), placed)
    return replace(desired, functions=read_pool(Root(), desired.host.nics.pf))


guest_options = shared(
    "desired",
    _desired,
    click.argument("name", metavar="GUEST"),
    cluster_option,
    settings_option,
    click.option(
        "--placement", type=path_type, metavar="XML", help="Output of `vas affinity emit`."
    ),
)
"""Adds GUEST, --cluster, --settings and --placement to a command, which gets `desired`."""
