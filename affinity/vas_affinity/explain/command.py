"""`vas affinity explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vas_affinity.explain.explanation import Explanation, Parts, explain_plan
from vas_affinity.options import connect_option, from_option, process_option, seconds_option
from vas_affinity.placement import Placement, Target
from vas_affinity.placement_file import read_placement
from vas_affinity.plan.options import (
    ThreadOptions,
    thread_options,
    threads_planned,
)
from vas_affinity.reading import Asked
from vas_core.cli import json_option, note, print_json, print_table
from vas_core.errors import BadInput

_TERMS = ("communication", "sharing", "interrupt", "memory")
_MOST_ROWS = 20


@click.command()
@click.argument("plan", type=click.Path(path_type=Path), required=False, metavar="[PLAN.json]")
@from_option
@process_option
@seconds_option
@connect_option
@thread_options
@click.option("--all", "every", is_flag=True, help=f"Every thread, not the first {_MOST_ROWS}.")
@json_option
def explain(
    plan: Path | None,
    source: Path | None,
    processes: tuple[str, ...],
    seconds: float,
    connect: str | None,
    every: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show where a plan's score comes from, beside today's.

    By thread and term: communication, sharing a core, distance from interrupts, distance from
    memory; lower is better. With PLAN.json, of the placement of threads in it; else of one made
    now, as `vas affinity plan` would with the same options. Threads that pay the most come first.

    \b
    Examples: vas affinity explain --process NodeManager
              vas affinity explain plan.json --from oss1.json --graph graph.json --json
    """
    placement = _of_threads(plan) if plan else None
    asked = Asked(seconds, processes, connect)
    planned = threads_planned(source, ThreadOptions(**options), asked, placement)
    found = explain_plan(planned.plan, planned.distances)
    if as_json:
        print_json(found.as_json())
        return
    _print(found, len(found.threads) if every else _MOST_ROWS)


def _of_threads(plan: Path) -> Placement:
    placement = read_placement(plan)
    if all(pin.target is not Target.THREAD for pin in placement.pins):
        hint = "a guest's plan has its reasons in it: `vas affinity map` shows them"
        raise BadInput("pins no threads, which alone have a score", where=str(plan), hint=hint)
    return placement


def _print(found: Explanation, most: int) -> None:
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
    """`sharing 12.3: ` before the reason: the term that a thread pays most of."""
    term = max(_TERMS, key=lambda term: float(getattr(parts, term)))
    amount = float(getattr(parts, term))
    return f"{term} {amount:.2f}: " if amount > 0.005 else ""
