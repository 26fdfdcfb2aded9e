"""`vas test`."""

from __future__ import annotations

import shlex

import click

from vas_core.cli import print_table
from vas_core.errors import ExitStatus
from vas_tests.checks import Extent, chosen_checks, run_checks


@click.command()
@click.option(
    "--fast",
    "extent",
    flag_value=Extent.FAST,
    type=Extent,
    help="Linters, Python's unit tests, Java's layout module: a minute. No daemons.",
)
@click.option(
    "--ci",
    "extent",
    flag_value=Extent.CI,
    type=Extent,
    help="Also what is marked `long`: faults, kinds of jobs, machines in QEMU. An hour.",
)
@click.option(
    "--all",
    "extent",
    flag_value=Extent.ALL,
    type=Extent,
    help="Also what is marked `nightly`, for which CI has no time.",
)
@click.option("--yes", is_flag=True, help="Install missing packages without asking (see ./vas).")
@click.option(
    "--list", "only_list", is_flag=True, help="Print the commands instead of running them."
)
def test(extent: Extent | None, yes: bool, only_list: bool) -> int:
    """Run the tests and linters; status 1 if one fails.

    \b
    Examples: ./vas test          Python, Java, the lab
              ./vas test --fast   what takes a minute
              ./vas test --ci     the long suites too, as CI does
              ./vas test --all    all there is: before a release
              ./vas test --list   the commands, to run one by one
    """
    chosen = chosen_checks(extent or Extent.USUAL)
    if only_list:
        print_table(("CHECK", "COMMAND"), [(c.name, shlex.join(c.argv)) for c in chosen])
        return ExitStatus.DONE
    outcomes = run_checks(chosen)
    rows = [
        (o.check.name, "ok" if o.status == 0 else "FAILED", f"{o.seconds:.0f}") for o in outcomes
    ]
    print_table(("CHECK", "RESULT", "SECONDS"), rows)
    failed = [o for o in outcomes if o.status != 0]
    print(f"{len(outcomes) - len(failed)} passed, {len(failed)} failed", flush=True)
    return ExitStatus.FAILED if failed else ExitStatus.DONE
