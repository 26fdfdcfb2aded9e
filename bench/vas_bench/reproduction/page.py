"""Makes docs/reproduction.md from claims, the runs of plans, and the pages that claims quote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vas_bench.reproduction.claims import ClaimFiles, ClaimSection, PaperClaim
from vas_bench.reproduction.measured import outcomes_of
from vas_bench.reproduction.sources import QuotedSources, linked_pages
from vas_bench.reproduction.verdict import MEANINGS
from vas_bench.reproduction.words import cells_of
from vas_bench.results.record import BenchRun
from vas_core.errors import BadInput

_MADE = (
    "<!-- `vas bench reproduction` writes this page from docs/evidence/claims: change those. -->"
)
_HEAD = ("claim", "theirs", "ours", "verdict")

PlanRuns = Mapping[str, Sequence[BenchRun]]
"""A plan's name -> the runs of its file of results; a plan without a file is not in it."""


def reproduction_page(claims: ClaimFiles, runs: PlanRuns, sources: QuotedSources) -> str:
    """Returns the page. Raises BadInput that names a figure which its page does not have."""
    page = claims.page
    parts = [f"{_MADE}\n# {page.title}", page.intro.strip(), _legend(), page.legend.strip()]
    for file, section in claims.sections.items():
        parts += _section(file, section, runs, sources)
    return "\n\n".join([*parts, page.end.strip()]) + "\n"


def _legend() -> str:
    rows = ((f"**{word}**", meaning) for word, meaning in MEANINGS.items())
    return "\n".join(_table(("verdict", "means"), rows))


def _section(
    file: Path, section: ClaimSection, runs: PlanRuns, sources: QuotedSources
) -> Iterator[str]:
    yield f"## {section.title}\n{section.intro.strip()}"
    rows = (
        _row(claim, f"{file}: claims[{number}]", section, runs, sources)
        for number, claim in enumerate(section.claims)
    )
    yield "\n".join(_table(_HEAD, rows))
    if section.after:
        sources.check(section.after, section.pages, f"{file}: after")
        yield section.after.strip()


def _row(
    claim: PaperClaim, where: str, section: ClaimSection, runs: PlanRuns, sources: QuotedSources
) -> Sequence[str]:
    pages = [*claim.pages, *section.pages]
    named = f"{where} ({claim.claim})"
    sources.check(claim.ours, pages, named)
    also = f"{section.intro} {claim.claim} {claim.theirs} {claim.ours}"
    sources.check(claim.reason, [*linked_pages(claim.ours), *pages], named, also=also)
    try:
        measured = claim.measured
        outcomes = outcomes_of(measured, runs.get(measured.plan, ())) if measured else []
    except BadInput as wrong:
        raise BadInput(wrong.what, where=f"{where}.measured", hint=wrong.hint) from wrong
    return cells_of(claim, outcomes)


def _table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"
