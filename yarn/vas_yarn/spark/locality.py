"""Prints where the tasks of an application of Spark ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from vas_core.cli import print_json
from vas_core.shown import counted, shown
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_yarn.placement_log import PlacementDecision
from vas_yarn.spark.eventlog import PLACES, SparkStage, read_stages

_COLUMNS = ("STAGE", "NAME", "TASKS", *PLACES, "NO PLACE", "READ", "AT ITS STRIPE")


@dataclass(frozen=True)
class ElsewhereExecutor:
    """An executor that started on `node` though it was asked for on `host`, and why it did.

    `waited_ms`: how long placement waited for `host`.
    """

    host: str
    node: str
    cause: str
    waited_ms: int


@dataclass(frozen=True)
class ExecutorPlaces:
    """The executors of an application that were asked for where stripes are, and their places.

    `asked_for`: how many they are. `started_there`: those that started on a host they were asked
    for on. `elsewhere`: the others.
    """

    asked_for: int
    started_there: int
    elsewhere: Sequence[ElsewhereExecutor]

    def __str__(self) -> str:
        """Returns a sentence with both counts and each cause once."""
        causes = sorted({f"{each.host}: {each.cause}" for each in self.elsewhere})
        why = f" ({shown(', '.join(causes))})" if causes else ""
        asked = counted(self.asked_for, "executor")
        return f"{asked} asked for where stripes are: {self.started_there} started there{why}"


def show_spark(log: Path, decisions: Sequence[PlacementDecision], as_json: bool) -> None:
    """Prints the stages of an event log, and how its executors were placed.

    Raises BadInput if Spark did not write the file so.
    """
    stages, executors = read_stages(log), executor_places(decisions)
    if as_json:
        told = [stage.as_json() for stage in stages]
        print_json({"stages": told, "executors": asdict(executors) if executors else None})
        return
    print_table(_COLUMNS, (_cells(stage) for stage in stages))
    click.echo(f"\n{summary(stages)}")
    if executors:
        click.echo(str(executors))


def executor_places(decisions: Sequence[PlacementDecision]) -> ExecutorPlaces | None:
    """Returns where executors started that were asked for on some hosts.

    None if no executor was, as with static allocation.
    """
    grants = [each for each in decisions if each.event == "grant"]
    elsewhere = [each for each in grants if each.locality != "local"]
    if not grants:
        return None
    return ExecutorPlaces(
        asked_for=len(grants),
        started_there=len(grants) - len(elsewhere),
        elsewhere=[
            ElsewhereExecutor(each.host, each.node, each.cause, each.waited_ms)
            for each in elsewhere
        ],
    )


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
