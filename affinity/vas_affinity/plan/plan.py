"""The command `vas affinity plan`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.guest_plan import plan_guests
from vas_affinity.joint import JointInput, JointPlan, plan_host
from vas_affinity.machine.reading import SnapshotRequest
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.options import (
    connect_option,
    from_option,
    process_option,
    seconds_option,
    snapshot_of,
)
from vas_affinity.placement import HostPlacement
from vas_affinity.plan.guest_options import GuestOptions, guest_options
from vas_affinity.plan.options import (
    ThreadOptions,
    joint_input,
    thread_options,
    threads_planned,
)
from vas_affinity.plan.table import print_plan
from vas_affinity.threads import Policy
from vas_core.cli import json_option, note, print_json
from vas_core.errors import BadInput
from vas_core.files import write_atomically


@click.command()
@from_option
@guest_options
@process_option
@seconds_option
@connect_option
@thread_options
@click.option("--out", type=click.Path(path_type=Path), help="File to write the plan to, as well.")
@json_option
def plan(
    source: Path | None,
    processes: tuple[str, ...],
    seconds: float,
    connect: str | None,
    out: Path | None,
    as_json: bool,
    guests: GuestOptions,
    threads: ThreadOptions,
) -> None:
    """Plan which CPU each vCPU, I/O thread or thread gets.

    Plans guests (--cluster or --vcpus) or threads (--process, or the threads of a snapshot given
    by --from), each with its reason. With the guests go the storage server's busy threads and the
    interrupts that can be moved: one problem, one score. Changes nothing: `vas affinity apply`
    applies the plan, and `vas affinity explain` shows its score.

    \b
    Examples: vas affinity plan --vcpus 8 --memory 16GiB --out plan.json
              vas affinity plan --from oss1.tar.bz2 --cluster cluster.yaml --host oss1 --json
              vas affinity plan --process ll_ost_io --process NodeManager --graph graph.json
              vas affinity plan --from oss1.json --policy slides

    \f
    Raises BadInput where there is nothing to place, or options contradict one another.
    """
    if not (guests.any or processes or source):
        hint = "give --cluster FILE, --vcpus N or --process REGEX"
        raise BadInput("there is nothing to place", where="affinity plan", hint=hint)
    asked = SnapshotRequest(seconds, processes, connect)
    if guests.any:
        placement = _of_guests(source, guests, threads, asked)
    else:
        placement = threads_planned(source, threads, asked).plan.placement
    _print(placement, out, as_json=as_json)


def _of_guests(
    source: Path | None, guests: GuestOptions, threads: ThreadOptions, asked: SnapshotRequest
) -> HostPlacement:
    if threads.policy == Policy.SLIDES:
        what = "the slides' order is of threads: guests go by the score or by the rule"
        raise BadInput(what, where="--policy", hint="leave it out, or give --policy rule")
    if threads.policy == Policy.RULE:
        return plan_guests(*guests.guests_on(snapshot_of(source, asked)))
    snapshot, known = joint_input(source, threads, asked)
    return guests_planned(snapshot, guests, known).placement


def guests_planned(snapshot: Snapshot, guests: GuestOptions, known: JointInput) -> JointPlan:
    """Plans the guests that options ask for, with the storage server's threads and interrupts."""
    return plan_host(*guests.guests_on(snapshot), known)


def _print(placement: HostPlacement, out: Path | None, *, as_json: bool) -> None:
    if out:
        write_atomically(out, placement.model_dump_json(indent=2) + "\n")
        note(f"{out}: the plan; on {placement.host} `vas affinity apply {out}` applies it")
    if as_json:
        print_json(placement.model_dump(mode="json"))
    else:
        print_plan(placement)
