"""The command `vas affinity apply`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.apply.options import HostOptions, host_options, plan_argument
from vas_affinity.apply.outcome import status_of
from vas_affinity.apply.plan_file import read_plan
from vas_affinity.apply.table import print_results
from vas_core.cli import json_option
from vas_core.errors import ExitStatus
from vas_core.options import dry_run


@click.command("apply")
@plan_argument
@host_options
@dry_run()
@json_option
def apply_command(given: HostOptions, plan_file: Path, dry_run: bool, as_json: bool) -> int:
    """Apply a plan, read the values back and print the changes.

    The present values are written to the journal before the first change. A value that an earlier
    plan pinned and this one does not is restored. A thread or interrupt that cannot be moved, or
    is not there any more, is reported and is not a failure. Status 1 if something failed, 3 if the
    kernel did not keep a value.

    \b
    Examples: vas affinity apply plan.json --dry-run
              vas affinity apply plan.json --json
    """
    plan = read_plan(plan_file, given.name)
    results = given.host.plan(plan) if dry_run else given.host.apply(plan)
    print_results(given.name, results, as_json=as_json)
    return ExitStatus.DONE if dry_run else status_of(results)
