"""The command `vas affinity explain`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from vas_affinity.joint import JointPlan, Solution, host_plan_of
from vas_affinity.machine.reading import SnapshotRequest
from vas_affinity.options import (
    connect_option,
    from_option,
    process_option,
    seconds_option,
)
from vas_affinity.pictures.links_svg import draw_links
from vas_affinity.placement import HostPlacement, PinTarget
from vas_affinity.placement_file import read_placement
from vas_affinity.plan.explain.explanation import ScoreExplanation, explain_host, explain_plan
from vas_affinity.plan.explain.picture import linked_maps
from vas_affinity.plan.explain.table import print_explanation, print_what_if
from vas_affinity.plan.explain.what_if import what_if
from vas_affinity.plan.guest_options import GuestOptions, guest_options
from vas_affinity.plan.options import (
    ThreadOptions,
    joint_input,
    thread_options,
    threads_planned,
)
from vas_affinity.plan.plan import guests_planned
from vas_core.cli import json_option, print_json
from vas_core.errors import BadInput
from vas_core.svg import check_name, write_picture

_MOST_ROWS = 20


@dataclass(frozen=True)
class _Explained:
    solution: Solution
    explanation: ScoreExplanation
    host: JointPlan | None = None


@click.command()
@click.argument("plan", type=click.Path(path_type=Path), required=False, metavar="[PLAN.json]")
@from_option
@guest_options
@process_option
@seconds_option
@connect_option
@thread_options
@click.option("--move", metavar="KEY=CPU", help="Show what the plan costs with one thing moved.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Picture of a plan of guests beside the rule's: .svg, .png or .html.",
)
@click.option("--all", "every", is_flag=True, help=f"Show every row, not just {_MOST_ROWS}.")
@json_option
def explain(
    plan: Path | None,
    source: Path | None,
    processes: tuple[str, ...],
    seconds: float,
    connect: str | None,
    move: str | None,
    out: Path | None,
    every: bool,
    as_json: bool,
    guests: GuestOptions,
    threads: ThreadOptions,
) -> None:
    """Show where the scores of a plan and of today come from.

    Shows the score by entity and term: communication, sharing a core, distance from interrupts,
    distance from memory; lower is better. A plan of guests is also compared with the rule from
    which it started. Explains PLAN.json, or without it a plan made now with the same options as
    those of `vas affinity plan`. What pays most comes first; `!` marks what is not allowed there.

    \b
    Examples: vas affinity explain --process NodeManager
              vas affinity explain plan.json --from oss1.json --graph graph.json --json
              vas affinity explain --vcpus 8 --move guest/iothread/1=12

    \f
    Raises BadInput for a plan without threads, NotHere if no process matches.
    """
    asked = SnapshotRequest(seconds, processes, connect)
    placement = _placement(plan) if plan else None
    of_guests = guests.any or (placement is not None and bool(placement.shapes))
    if of_guests:
        found = _of_guests(source, asked, placement, guests, threads)
    else:
        found = _of_threads(source, asked, placement, threads)
    if out is not None:
        _draw(found, out)
    if move is not None:
        _print_move(found, move, as_json=as_json)
    elif as_json:
        print_json(found.explanation.as_json())
    else:
        rows = len(found.explanation.threads) if every else _MOST_ROWS
        print_explanation(found.explanation, rows)


def _print_move(found: _Explained, move: str, *, as_json: bool) -> None:
    moved = what_if(found.solution, move)
    if as_json:
        print_json(moved.model_dump(mode="json") | {"change": moved.change})
    else:
        print_what_if(moved)


def _draw(found: _Explained, out: Path) -> None:
    check_name(out)
    if found.host is None:
        raise BadInput("draws plans of guests", where="--out", hint="see `vas affinity map`")
    write_picture(draw_links(linked_maps(found.host)), out, f"{found.host.placement.host}: links")


def _of_guests(
    source: Path | None,
    asked: SnapshotRequest,
    placement: HostPlacement | None,
    guests: GuestOptions,
    threads: ThreadOptions,
) -> _Explained:
    snapshot, known = joint_input(source, threads, asked)
    if placement is None:
        plan = guests_planned(snapshot, guests, known)
    else:
        plan = host_plan_of(placement, snapshot, guests.settings(), known)
    source_of = known.distances.source if known.distances else ""
    return _Explained(plan.planned, explain_host(plan, source_of), plan)


def _of_threads(
    source: Path | None,
    asked: SnapshotRequest,
    placement: HostPlacement | None,
    threads: ThreadOptions,
) -> _Explained:
    planned = threads_planned(source, threads, asked, placement)
    solution = Solution(planned.plan.problem, planned.plan.places)
    return _Explained(solution, explain_plan(planned.plan, planned.distances))


def _placement(plan: Path) -> HostPlacement:
    placement = read_placement(plan)
    pinned = {pin.target for pin in placement.pins}
    if not pinned & {PinTarget.THREAD, PinTarget.VCPU}:
        what = "pins neither guests nor threads, and nothing else has a score"
        raise BadInput(what, where=str(plan), hint="plan with --vcpus, --cluster or --process")
    return placement
