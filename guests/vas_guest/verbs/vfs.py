"""The command `vas guest vfs`."""

from __future__ import annotations

import socket
from pathlib import Path

import click

from vas_cluster import Host, default_path
from vas_cluster.loading import load_cluster
from vas_core.cli import json_option, print_json
from vas_core.errors import BadInput
from vas_core.options import dry_run
from vas_core.root import Root
from vas_guest.as_json import functions_json
from vas_guest.options import cluster_option, settings_option
from vas_guest.pool import carrying, read_pool, write_pool
from vas_guest.settings import read_settings
from vas_guest.table import print_functions
from vas_guest.trust import set_trust
from vas_guest.vfs import Adapter, make, pool, read_adapter, steps


@click.command()
@cluster_option
@click.option("--node", help="Storage server.  [default: this machine's name]")
@settings_option
@click.option(
    "--interrupt", is_flag=True, help="Make functions even if the adapter's own interface is up."
)
@dry_run()
@json_option
def vfs(
    cluster_file: Path | None,
    node: str | None,
    settings: Path,
    interrupt: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make a virtual function for each guest of this server.

    Existing virtual functions stay: none is ever taken from a guest, and a sufficient number is
    left as it is. The number is read back, and those that belong to the guests are recorded.

    \b
    Examples: vas guest vfs --dry-run
              vas guest vfs

    \f
    Raises BadInput for a node that is not a storage server of the map, NotHere without SR-IOV.
    """
    host = _host(cluster_file, node)
    pf, wanted = host.nics.pf, len(host.guests)
    found = read_adapter(Root(), pf)
    if dry_run:
        writes = steps(found, wanted)
    else:
        writes = make(Root(), pf, wanted, interrupt=interrupt)
        found = read_adapter(Root(), pf)
        write_pool(Root(), pf, pool(found, wanted, _ours(found, host)))
    chosen = read_pool(Root(), pf)
    trust = set_trust(found, chosen, trust=read_settings(settings).trust, dry_run=dry_run)
    if as_json:
        interrupts = bool(writes) and found.up
        print_json(functions_json(pf, wanted, writes, chosen, trust, interrupts=interrupts))
    else:
        print_functions(pf, writes, trust)


def _ours(found: Adapter, host: Host) -> set[str]:
    """Returns the VFs that belonged to VAS's guests before."""
    kept = set(read_pool(Root(), found.pf))
    return kept | set(carrying(found, [guest.macs.vf for guest in host.guests]))


def _host(cluster_file: Path | None, node: str | None) -> Host:
    cluster = load_cluster(cluster_file or default_path())
    name = cluster.name_of(node or socket.gethostname())
    host = cluster.host(name)
    if host is None:
        known = ", ".join(one.name for one in cluster.hosts)
        raise BadInput("is not a storage server of the map", where=name, hint=f"it has {known}")
    return host
