"""The command `vas test`: linters and tests, to four extents or by slices."""

from __future__ import annotations

import shlex
import time

import click

from vas_core.errors import BadInput, ExitStatus, VasError
from vas_core.shown import counted
from vas_core.table import print_table
from vas_tests.checks import Extent, Outcome, SuiteCheck, chosen_checks, run_checks
from vas_tests.slices import (
    Slice,
    number_of_commits,
    read_green_runs,
    read_slices,
    record_green_run,
    slice_of_number,
    slice_of_this_commit,
)


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
    help="Also what is marked `long` (faults, QEMU), and one slice of the nightly tests.",
)
@click.option(
    "--all",
    "extent",
    flag_value=Extent.ALL,
    type=Extent,
    help="Also every test that is marked `nightly`: some hours.",
)
@click.option(
    "--minutes",
    type=click.IntRange(min=1),
    help="Leave out, and name, tests marked `long` or `nightly` that would not end by then.",
)
@click.option("--slice", "number", type=int, help="Run only this slice of the nightly tests.")
@click.option("--record", is_flag=True, help="With --slice: record a green run of it in docs.")
@click.option(
    "--slices", "list_slices", is_flag=True, help="List the slices, their last green runs."
)
@click.option("--yes", is_flag=True, help="Install missing packages without asking (see ./vas).")
@click.option(
    "--list", "only_list", is_flag=True, help="Print the commands instead of running them."
)
def test(
    extent: Extent | None,
    minutes: int | None,
    number: int | None,
    record: bool,
    list_slices: bool,
    yes: bool,
    only_list: bool,
) -> int:
    """Run the tests and linters; status 1 if one fails.

    \b
    Examples: ./vas test             Python, Java, the lab
              ./vas test --fast      what takes a minute
              ./vas test --ci        the long suites too, as CI does
              ./vas test --ci --minutes 70   the same on a machine that may be slow
              ./vas test --all       all there is: before a release
              ./vas test --list      the commands, to run one by one
              ./vas test --slices    the nightly tests in slices, and when each was green
              ./vas test --slice 3 --record

    \f
    Raises BadInput for --record without --slice, and for a slice that does not exist; VasError
    for --record of a slice whose tests were all skipped.
    """
    if record and number is None:
        raise BadInput("--record: which slice?", hint="add --slice N; --slices lists them")
    if list_slices:
        _print_slices()
        return ExitStatus.DONE
    chosen = _checks(extent or Extent.USUAL, number)
    if minutes is not None:
        end, turn = time.time() + 60 * minutes, number_of_commits()
        chosen = [check.until(end, turn) for check in chosen]
    if only_list:
        print_table(("CHECK", "COMMAND"), [(c.name, shlex.join(c.argv)) for c in chosen])
        return ExitStatus.DONE
    outcomes = run_checks(chosen)
    failed = print_outcomes(outcomes)
    if record and number is not None and not failed:
        _record(slice_of_number(number), outcomes[0])
    return ExitStatus.FAILED if failed else ExitStatus.DONE


def _checks(extent: Extent, number: int | None) -> list[SuiteCheck]:
    """One slice alone, or the extent's checks: CI adds the slice whose turn it is."""
    if number is not None:
        return [slice_of_number(number).check()]
    turn = [slice_of_this_commit().check()] if extent == Extent.CI else []
    return [*chosen_checks(extent), *turn]


def _record(part: Slice, outcome: Outcome) -> None:
    if outcome.ran_nothing:
        raise VasError(
            "every test was skipped, so no green run was recorded",
            where=f"--slice {part.number}",
            hint=f"the reasons are above; ./vas --yes test --slice {part.number} installs packages",
        )
    record_green_run(part, outcome)


def print_outcomes(outcomes: list[Outcome]) -> bool:
    """Prints how each check ended, what failed with its last lines; returns whether one failed."""
    failed = [o for o in outcomes if o.status != 0]
    for outcome in failed:
        if outcome.last_lines:
            print(f"== {outcome.check.name} failed; its last lines:", *outcome.last_lines, sep="\n")
    rows = [(o.check.name, _result(o), f"{o.seconds:.0f}", o.skipped or "") for o in outcomes]
    print_table(("CHECK", "RESULT", "SECONDS", "TESTS SKIPPED"), rows)
    print(f"{len(outcomes) - len(failed)} passed, {len(failed)} failed", flush=True)
    if skipped := sum(o.skipped or 0 for o in outcomes):
        print(f"{counted(skipped, 'test')} skipped: the reasons are above", flush=True)
    return bool(failed)


def _result(outcome: Outcome) -> str:
    if outcome.status != 0:
        return "FAILED"
    return "skipped" if outcome.ran_nothing else "ok"


def _print_slices() -> None:
    green = read_green_runs()
    rows = []
    for part in read_slices():
        run = green.get(part.name)
        last = ("never", "", "", "")
        if run:
            last = (run.date, run.commit, str(run.minutes), str(run.skipped or ""))
        rows.append((str(part.number), part.name, *last))
    print_table(("SLICE", "TESTS OF", "LAST GREEN", "COMMIT", "MINUTES", "SKIPPED"), rows)
