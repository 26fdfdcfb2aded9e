"""Prints an explained score as tables for people."""

from __future__ import annotations

import click

from vas_affinity.plan.explain.explanation import Parts, ScoreExplanation
from vas_affinity.plan.explain.what_if import WhatIf
from vas_core.cli import note
from vas_core.table import print_table

_TERMS = ("communication", "sharing", "interrupt", "memory")


def print_explanation(found: ScoreExplanation, most: int) -> None:
    """Prints the scores of today, the rule and the plan by term, then the `most` costliest."""
    lines = [("today", found.today), ("planned", found.planned)]
    if found.rule is not None:
        lines.insert(1, ("rule", found.rule))
    rows = [_line(name, parts) for name, parts in lines]
    print_table(("", "SCORE", *(term.upper() for term in _TERMS), "FORBIDDEN"), rows)
    click.echo("")
    order = sorted(found.threads, key=lambda t: -(t.today or t.planned).score)
    names = [name for name, _ in lines]
    columns = [word for name in names for word in (f"CPU {name.upper()}", "PAYS")]
    print_table(
        ("THREAD" if found.rule is None else "ENTITY", *columns, "WHY"),
        [
            (
                entity.key,
                *(word for name in names for word in _place(getattr(entity, name))),
                f"{_largest(entity.planned)}{entity.reason}",
            )
            for entity in order[:most]
        ],
    )
    if len(order) > most:
        note(f"{len(order) - most} more: --all shows them")
    click.echo(f"\ndistances: {found.distances}")
    for line in found.notes:
        note(f"note: {line}")


def print_what_if(found: WhatIf) -> None:
    """Prints the score before and after a move, and the entities whose cost changes."""
    rows = [_line("planned", found.before), _line(found.move, found.after)]
    print_table(("", "SCORE", *(term.upper() for term in _TERMS), "FORBIDDEN"), rows)
    click.echo("")
    order = sorted(found.moved, key=lambda one: one.before.score - one.after.score)
    columns = ("ENTITY", "CPU PLANNED", "PAYS", "CPU THEN", "PAYS", "MORE")
    print_table(
        columns,
        [
            (
                one.key,
                *_place(one.before),
                *_place(one.after),
                f"{one.after.score - one.before.score:+.2f}",
            )
            for one in order
        ],
    )
    click.echo(f"\nthe score changes by {found.change:+.2f} (lower is better)")


def _line(name: str, parts: Parts | None) -> tuple[str, ...]:
    if parts is None:
        return (name, *("-" for _ in range(len(_TERMS) + 2)))
    terms = (f"{getattr(parts, term):.2f}" for term in _TERMS)
    return (name, f"{parts.score:.2f}", *terms, str(parts.forbidden))


def _place(parts: Parts | None) -> tuple[str, str]:
    if parts is None:
        return "-", "-"
    return f"{parts.cpu}{' !' * parts.forbidden}", f"{parts.score:.2f}"


def _largest(parts: Parts) -> str:
    """Returns the term that an entity pays most, to stand before its reason: `sharing 12.30: `."""
    term = max(_TERMS, key=lambda term: float(getattr(parts, term)))
    amount = float(getattr(parts, term))
    return f"{term} {amount:.2f}: " if amount > 0.005 else ""
