"""The command `vas affinity rollback`."""

from __future__ import annotations

import click

from vas_affinity.apply.options import HostOptions, host_options
from vas_affinity.apply.outcome import status_of
from vas_affinity.apply.table import print_results
from vas_affinity.placement import HostPlacement
from vas_core.cli import json_option
from vas_core.errors import ExitStatus
from vas_core.options import dry_run


@click.command()
@host_options
@dry_run()
@json_option
def rollback(given: HostOptions, dry_run: bool, as_json: bool) -> int:
    """Restore every value that VAS changed.

    Also what libvirt's hook set at the starts of guests. Works after a crash too, as the journal is
    written before each change. A thread or guest that has ended since is reported; it needs no
    restoring. Stop the daemon first.

    \b
    Examples: vas affinity rollback --dry-run
              vas affinity rollback
    """
    nothing = HostPlacement(host=given.name)
    hosts = (given.host, given.host_of_starts)
    results = [
        result for host in hosts for result in (host.plan(nothing) if dry_run else host.rollback())
    ]
    print_results(given.name, results, as_json=as_json)
    return ExitStatus.DONE if dry_run else status_of(results)
