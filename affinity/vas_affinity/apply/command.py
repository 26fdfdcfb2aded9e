"""`vas affinity apply | verify | rollback`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from vas_affinity.apply.options import Given, dry_run_option, host_options, plan_argument
from vas_affinity.apply.outcome import Outcome, Verdict, status_of
from vas_affinity.apply.plan_file import read_plan
from vas_affinity.placement import Placement
from vas_core.cli import json_option, note, print_json, print_table
from vas_core.errors import ExitStatus


@click.command("apply")
@plan_argument
@host_options
@dry_run_option
@json_option
def apply_command(given: Given, plan_file: Path, dry_run: bool, as_json: bool) -> int:
    """Make a plan true, read it back, print what was changed.

    The values before stand in the journal before the first write. What an earlier plan pinned and
    this one does not is given back. What cannot be moved, or is not there as the plan saw it, is
    reported and no failure. Status 1 if something failed, 3 if the kernel did not keep a value.

    \b
    Examples: vas affinity apply plan.json --dry-run
              vas affinity apply plan.json --json
    """
    plan = read_plan(plan_file, given.name)
    outcomes = given.host.plan(plan) if dry_run else given.host.apply(plan)
    _print(given, outcomes, as_json)
    return ExitStatus.DONE if dry_run else status_of(outcomes)


@click.command()
@plan_argument
@host_options
@json_option
def verify(given: Given, plan_file: Path, as_json: bool) -> int:
    """Compare this host with a plan; status 3 if they differ.

    \b
    Example: vas affinity verify plan.json
    """
    outcomes = given.host.verify(read_plan(plan_file, given.name))
    _print(given, outcomes, as_json)
    return status_of(outcomes)


@click.command()
@host_options
@dry_run_option
@json_option
def rollback(given: Given, dry_run: bool, as_json: bool) -> int:
    """Give every value that VAS changed what it had before.

    Works after a crash, as the journal is written before a change. What has ended since is
    reported, and nothing is to be done for it. Stop the daemon first.

    \b
    Examples: vas affinity rollback --dry-run
              vas affinity rollback
    """
    nothing = Placement(host=given.name)
    outcomes = given.host.plan(nothing) if dry_run else given.host.rollback()
    _print(given, outcomes, as_json)
    return ExitStatus.DONE if dry_run else status_of(outcomes)


def _print(given: Given, outcomes: Sequence[Outcome], as_json: bool) -> None:
    if as_json:
        rows = [outcome.as_json() for outcome in outcomes]
        print_json({"host": given.name, "outcomes": rows})
        return
    if not outcomes:
        note("nothing of VAS's is there")
        return
    columns = ("WHAT", "BEFORE", "WANTED", "NOW", "RESULT", "WHY")
    print_table(columns, map(_row, outcomes))
    counted = ((sum(o.verdict is verdict for o in outcomes), verdict) for verdict in Verdict)
    note(", ".join(f"{count} {verdict}" for count, verdict in counted if count))


def _row(outcome: Outcome) -> tuple[str, ...]:
    values = (outcome.before, outcome.wanted, outcome.now)
    shown = (value if value else "-" for value in values)
    return (outcome.what, *shown, outcome.verdict, outcome.why)
