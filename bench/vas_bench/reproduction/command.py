"""The command `vas bench reproduction`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from vas_bench.reproduction.claims import ClaimFiles, read_claims
from vas_bench.reproduction.page import reproduction_page
from vas_bench.reproduction.plans import check_plans
from vas_bench.reproduction.reports import read_directory, report_files
from vas_bench.reproduction.sources import QuotedSources
from vas_core.cli import note
from vas_core.errors import NotHere, VasError
from vas_core.files import write_atomically
from vas_core.repository import NEEDS_CLONE, REPOSITORY, is_clone
from vas_core.shown import counted

_DOCS = REPOSITORY / "docs"
_directory = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; status 1 if a page would change.")
@click.option(
    "--results",
    type=_directory,
    help="Directory of files of results, named after plans [default: docs/evidence/results].",
)
@click.option(
    "--claims", type=_directory, help="Directory of claims [default: docs/evidence/claims]."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The page to write [default: docs/reproduction.md].",
)
def reproduction(check: bool, results: Path | None, claims: Path | None, out: Path | None) -> None:
    """Write the page of the papers' claims, with ours beside.

    Claims that name a plan are joined with its file of results: ratio, interval, n, p and verdict
    are computed. Of the other claims each figure has to stand on a page that the claim links. Each
    file of results gets a report with pictures next to it.

    \b
    Examples: vas bench reproduction
              vas bench reproduction --check
              vas bench reproduction --results /tmp/night --out /tmp/page.md

    \f
    Raises VasError where a page differs with --check, NotHere outside a clone.
    """
    if not is_clone():
        raise NotHere("the claims are not installed", hint=NEEDS_CLONE)
    files = read_claims(claims or _DOCS / "evidence/claims")
    check_plans(files, REPOSITORY / "bench/plans")
    pages = _pages(files, results or _DOCS / "evidence/results", out or _DOCS / "reproduction.md")
    changed = [file for file, text in pages.items() if _content(file) != text]
    if check and changed:
        names = ", ".join(str(file) for file in changed)
        raise VasError(
            f"{names}: not as claims and results say", hint="run `vas bench reproduction`"
        )
    for file in changed:
        write_atomically(file, pages[file])
    note(f"{counted(len(pages), 'file')}, {len(changed)} written")


def _pages(files: ClaimFiles, results: Path, out: Path) -> Mapping[Path, str]:
    runs = read_directory(results)
    bases = {claim.plan: claim.base for claim in reversed(files.measured)}
    pages = {
        results / name: text
        for plan, found in runs.items()
        for name, text in report_files(plan, found, bases.get(plan)).items()
    }
    return pages | {out: reproduction_page(files, runs, QuotedSources(_DOCS))}


def _content(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None
