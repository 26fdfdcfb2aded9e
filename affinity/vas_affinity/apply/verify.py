"""The command `vas affinity verify`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.apply.options import HostOptions, host_options, plan_argument
from vas_affinity.apply.outcome import status_of
from vas_affinity.apply.plan_file import read_plan
from vas_affinity.apply.table import print_results
from vas_core.cli import json_option


@click.command()
@plan_argument
@host_options
@json_option
def verify(given: HostOptions, plan_file: Path, as_json: bool) -> int:
    """Compare this host with a plan; status 3 if they differ.

    \b
    Example: vas affinity verify plan.json
    """
    results = given.host.verify(read_plan(plan_file, given.name))
    print_results(given.name, results, as_json=as_json)
    return status_of(results)
