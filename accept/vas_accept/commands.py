"""`vas accept`: checks a mounted Lustre before a site relies on it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from vas_accept.catalogue import chosen
from vas_accept.other_user import OrdinaryUser
from vas_accept.outcome import AcceptanceCheck, AcceptanceResult
from vas_accept.place import AcceptanceOptions, AcceptancePlace
from vas_accept.report import AcceptanceFacts, AcceptanceReport
from vas_accept.run import own_directory, run_checks
from vas_cluster import default_path, load_cluster
from vas_core.cli import json_option, note, print_json
from vas_core.errors import BadInput, FoundDifferent
from vas_core.files import write_atomically
from vas_core.options import dry_run as dry_run_option
from vas_core.options import shared
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_layout.store import LayoutReader

LIMIT_SECONDS = 15 * 60
LEAST_FREE_BYTES = 1 << 30
_DIRECTORY = click.Path(path_type=Path, exists=True, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False)


def _options(
    cluster_file: Path | None,
    pool: str | None,
    small_pool: str | None,
    quota_directory: Path | None,
    failover: bool,
    hsm: bool,
    jobs: bool,
) -> AcceptanceOptions:
    known = cluster_file is not None or default_path().exists()
    return AcceptanceOptions(
        cluster=load_cluster(cluster_file or default_path()) if known else None,
        cluster_file=cluster_file,
        pool=pool,
        small_pool=small_pool,
        quota_directory=quota_directory,
        failover=failover,
        hsm=hsm,
        jobs=jobs,
    )


@click.command()
@click.argument("directory", metavar="MOUNT", type=_DIRECTORY)
@shared(
    "options",
    _options,
    click.option(
        "--cluster",
        "cluster_file",
        type=_FILE,
        help="Path of the site's map [default: as `vas cluster show`].",
    ),
    click.option("--pool", metavar="POOL", help="Pool for files with a pool [default: the first]."),
    click.option(
        "--small-pool", metavar="POOL", help="Pool with less than 256 MiB free: checks ENOSPC."
    ),
    click.option(
        "--quota-dir",
        "quota_directory",
        metavar="DIR",
        type=_DIRECTORY,
        help="Directory with a quota of less than 256 MiB: checks EDQUOT.",
    ),
    click.option("--failover", is_flag=True, help="Wait for an OST that you fail over."),
    click.option("--hsm", is_flag=True, help="Archive and release one file of 3 MiB."),
    click.option("--jobs", is_flag=True, help="Also run a TeraSort by YARN."),
)
@click.option("--as", "user", metavar="USER", help="User to make the checks as, too; needs root.")
@click.option(
    "--only", metavar="NAME", multiple=True, help="Name, or its beginning, of a check; repeatable."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, LIMIT_SECONDS),
    default=LIMIT_SECONDS,
    hidden=True,
    help="Time for all checks: what is left of it for those of another user.",
)
@click.option("--report", "page", type=_FILE, help="Write the report as an HTML page.")
@dry_run_option("Print the checks; make none.")
@json_option
def accept(
    directory: Path,
    options: AcceptanceOptions,
    user: str | None,
    only: tuple[str, ...],
    seconds: float,
    page: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Check what only a real Lustre can answer, on a mounted client.

    MOUNT is the mount point or a directory below it. The checks write into a new directory
    there, which is removed at the end, and take less than 15 minutes. Status 3 if a check
    failed or was not finished by then.

    \b
    Examples: vas accept /lustre --cluster /etc/vas/cluster.yaml --as ann --report accept.html
              vas accept /lustre/home/ann --only layout --json
              vas accept /lustre --cluster cluster.yaml --only failover --failover
    \f
    Raises BadInput if nothing can be checked, FoundDifferent if a check failed or was not
    finished.
    """
    checks, other = chosen(only), OrdinaryUser.named(user) if user else None
    if dry_run:
        _list(checks, as_json)
        return
    _refuse_unfit(directory)
    deadline = time.monotonic() + seconds
    with own_directory(directory) as made:
        # YARN refuses root's jobs where each user's containers are the user's own.
        mine = replace(options, jobs=options.jobs and other is None)
        place = AcceptancePlace(directory=made, options=mine, deadline=deadline)
        facts = AcceptanceFacts.of(place)
        results = run_checks(checks, place, _say)
        if other:
            words = _words(options, only)
            left = max(0.0, deadline - time.monotonic())
            theirs = made_once(other.results(made, words, left), options)
            for result in theirs:
                _say(result)
            results += theirs
    left_out = len(chosen(())) - len(checks)
    _tell(AcceptanceReport(facts, results, left_out), page, as_json)


def _list(checks: Sequence[AcceptanceCheck], as_json: bool) -> None:
    if as_json:
        print_json([{"check": check.name, "title": check.title} for check in checks])
    else:
        print_table(("CHECK", "WHAT"), ((check.name, check.title) for check in checks))


def _refuse_unfit(directory: Path) -> None:
    LayoutReader().refuse_other_file_systems(directory)
    if not os.access(directory, os.W_OK | os.X_OK):
        hint = "name a directory below the mount that you may write into"
        raise BadInput("may not be written into", where=str(directory), hint=hint)
    free = os.statvfs(directory)
    if free.f_bavail * free.f_frsize < LEAST_FREE_BYTES:
        what = f"has less than {format_size(LEAST_FREE_BYTES)} free"
        raise BadInput(what, where=str(directory), hint="make room first")


def _words(options: AcceptanceOptions, only: tuple[str, ...]) -> list[str]:
    """The command line of another user's checks; a failover is made once."""
    pairs = (
        ("--cluster", options.cluster_file and options.cluster_file.resolve()),
        ("--pool", options.pool),
        ("--small-pool", options.small_pool),
        ("--quota-dir", options.quota_directory and options.quota_directory.resolve()),
        *(("--only", name) for name in only),
    )
    words = [str(word) for name, value in pairs if value for word in (name, value)]
    flags = (("--hsm", options.hsm), ("--jobs", options.jobs))
    return [*words, *(name for name, is_set in flags if is_set)]


def made_once(
    results: Sequence[AcceptanceResult], options: AcceptanceOptions
) -> list[AcceptanceResult]:
    """Returns another user's results; a failover that root waited for is told as such."""
    told = "made once, as root"
    return [
        replace(it, seen=told) if it.check == "failover" and options.failover else it
        for it in results
    ]


def _say(result: AcceptanceResult) -> None:
    text = "; ".join(result.lines())
    note(f"{result.status.value}: {result.check} ({result.user}): {text}")


def _tell(report: AcceptanceReport, page: Path | None, as_json: bool) -> None:
    if page:
        write_atomically(page, report.html())
        note(f"report: {page}")
    if as_json:
        print_json(report.as_json())
    else:
        rows = ((it.status.value, it.check, it.user, f"{it.seconds:.1f}") for it in report.results)
        print_table(("STATUS", "CHECK", "AS", "SECONDS"), rows)
        counts = ", ".join(f"{number} {status}" for status, number in report.counts().items())
        click.echo(f"\n{report.facts.fsname}: {report.verdict} ({counts})")
    if complaint := report.complaint():
        hint = "--report FILE.html says what each means, and what to do"
        if not report.failed:
            hint = "make these alone, by --only NAME"
        raise FoundDifferent(complaint, where=report.facts.mount, hint=hint)
