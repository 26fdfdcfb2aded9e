"""Prints an explained score as tables for people."""

from __future__ import annotations

import click

from vas_affinity.plan.explain.explanation import Parts, ScoreExplanation
from vas_core.cli import note
from vas_core.table import print_table

_TERMS = ("communication", "sharing", "interrupt", "memory")


def print_explanation(found: ScoreExplanation, most: int) -> None:
    """Prints the score of today and of the plan by term, then the `most` costliest threads."""
    rows = [_line("today", found.today), _line("planned", found.planned)]
    print_table(("", "SCORE", *(term.upper() for term in _TERMS), "FORBIDDEN"), rows)
    click.echo("")
    order = sorted(found.threads, key=lambda t: -(t.today or t.planned).score)
    columns = ("THREAD", "CPU TODAY", "PAYS", "CPU PLANNED", "PAYS", "WHY")
    print_table(
        columns,
        [
            (t.key, *_place(t.today), *_place(t.planned), f"{_largest(t.planned)}{t.reason}")
            for t in order[:most]
        ],
    )
    if len(order) > most:
        note(f"{len(order) - most} more threads: --all shows them")
    click.echo(f"\ndistances: {found.distances}")
    for line in found.notes:
        note(f"note: {line}")


def _line(name: str, parts: Parts | None) -> tuple[str, ...]:
    if parts is None:
        return (name, *("-" for _ in range(len(_TERMS) + 2)))
    terms = (f"{getattr(parts, term):.2f}" for term in _TERMS)
    return (name, f"{parts.score:.2f}", *terms, str(parts.forbidden))


def _place(parts: Parts | None) -> tuple[str, str]:
    if parts is None:
        return "-", "-"
    return f"{parts.cpu}{' [NS]' * parts.forbidden}", f"{parts.score:.2f}"


def _largest(parts: Parts) -> str:
    """Returns the term that a thread pays most, to stand before its reason: `sharing 12.30: `."""
    term = max(_TERMS, key=lambda term: float(getattr(parts, term)))
    amount = float(getattr(parts, term))
    return f"{term} {amount:.2f}: " if amount > 0.005 else ""
