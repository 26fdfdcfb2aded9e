"""The command `vas affinity explain`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.machine.reading import SnapshotRequest
from vas_affinity.options import connect_option, from_option, process_option, seconds_option
from vas_affinity.placement import HostPlacement, PinTarget
from vas_affinity.placement_file import read_placement
from vas_affinity.plan.explain.explanation import explain_plan
from vas_affinity.plan.explain.table import print_explanation
from vas_affinity.plan.options import (
    ThreadOptions,
    thread_options,
    threads_planned,
)
from vas_core.cli import json_option, print_json
from vas_core.errors import BadInput

_MOST_ROWS = 20


@click.command()
@click.argument("plan", type=click.Path(path_type=Path), required=False, metavar="[PLAN.json]")
@from_option
@process_option
@seconds_option
@connect_option
@thread_options
@click.option("--all", "every", is_flag=True, help=f"Show all threads, not just {_MOST_ROWS}.")
@json_option
def explain(
    plan: Path | None,
    source: Path | None,
    processes: tuple[str, ...],
    seconds: float,
    connect: str | None,
    every: bool,
    as_json: bool,
    threads: ThreadOptions,
) -> None:
    """Show where the scores of a plan and of today come from.

    Shows the score by thread and term: communication, sharing a core, distance from interrupts,
    distance from memory; lower is better. Explains the threads in PLAN.json, or without it a plan
    made now with the same options as those of `vas affinity plan`. Threads that pay most come
    first.

    \b
    Examples: vas affinity explain --process NodeManager
              vas affinity explain plan.json --from oss1.json --graph graph.json --json

    \f
    Raises BadInput for a plan without threads, NotHere if no process matches.
    """
    placement = _of_threads(plan) if plan else None
    asked = SnapshotRequest(seconds, processes, connect)
    planned = threads_planned(source, threads, asked, placement)
    found = explain_plan(planned.plan, planned.distances)
    if as_json:
        print_json(found.as_json())
        return
    print_explanation(found, len(found.threads) if every else _MOST_ROWS)


def _of_threads(plan: Path) -> HostPlacement:
    placement = read_placement(plan)
    if all(pin.target is not PinTarget.THREAD for pin in placement.pins):
        hint = "`vas affinity map` shows the reasons in a plan of guests"
        raise BadInput("pins no threads, and only threads have a score", where=str(plan), hint=hint)
    return placement
