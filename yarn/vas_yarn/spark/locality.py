"""Prints where the tasks of an application of Spark ran."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from vas_core.cli import print_json
from vas_core.shown import counted, shown
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_yarn.placement_log import PlacementDecision
from vas_yarn.spark.eventlog import PLACES, SparkStage, read_stages

_COLUMNS = ("STAGE", "NAME", "TASKS", *PLACES, "NO PLACE", "READ", "AT ITS STRIPE")


def show_spark(log: Path, decisions: Sequence[PlacementDecision], as_json: bool) -> None:
    """Prints the stages of an event log, and how its executors were placed.

    Raises BadInput if Spark did not write the file so.
    """
    stages = read_stages(log)
    if as_json:
        print_json([stage.as_json() for stage in stages])
        return
    print_table(_COLUMNS, (_cells(stage) for stage in stages))
    click.echo(f"\n{summary(stages)}")
    if placed := executors(decisions):
        click.echo(placed)


def executors(decisions: Sequence[PlacementDecision]) -> str:
    """Returns in a sentence where executors started that were asked for on some hosts.

    Empty if no ask named a host, as with static allocation.
    """
    grants = [each for each in decisions if each.event == "grant"]
    elsewhere = [each for each in grants if each.locality != "local"]
    if not grants:
        return ""
    causes = sorted({f"{each.host}: {each.cause}" for each in elsewhere})
    why = f" ({shown(', '.join(causes))})" if causes else ""
    asked = counted(len(grants), "executor")
    return f"{asked} asked for where stripes are: {len(grants) - len(elsewhere)} started there{why}"


def summary(stages: Sequence[SparkStage]) -> str:
    """Returns in a sentence which share of the input was read where it lay."""
    inputs = [stage for stage in stages if stage.placed]
    placed, local = sum(s.placed for s in inputs), sum(s.tasks[PLACES[0]] for s in inputs)
    read, near = sum(s.read for s in inputs), sum(s.read_local for s in inputs)
    tasks = counted(placed, "task")
    return (
        f"{tasks} had a place: {local} ran there; {format_size(near)} of {format_size(read)} local"
    )


def _cells(stage: SparkStage) -> tuple[object, ...]:
    total = stage.tasks.total()
    number = f"{stage.number}.{stage.attempt}" if stage.attempt else stage.number
    places = (stage.tasks[place] or "" for place in PLACES)
    read = format_size(stage.read) if stage.read else ""
    near = f"{100 * stage.read_local / stage.read:.0f}%" if stage.read else ""
    name = shown(stage.name.partition(" at ")[0])
    return (number, name, total, *places, total - stage.placed or "", read, near)
