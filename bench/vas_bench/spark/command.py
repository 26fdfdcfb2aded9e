"""The command `vas bench spark`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from vas_bench.engine.observe import Observer
from vas_bench.engine.play import Budget, Estimates, Expected, Played, note_left, play_shown
from vas_bench.engine.resume import left_to_do
from vas_bench.engine.rounds import Round, RunIdentity, runs_of
from vas_bench.options import (
    RoundsRequest,
    dry_run_option,
    rounds_option,
    rounds_options,
    size_option,
)
from vas_bench.results.environment import environment
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore
from vas_bench.shuffle.goals import Goal, GoalRow, read_goals, rows
from vas_bench.shuffle.table import print_rows, refuse_invalid_rows
from vas_bench.spark.arms import small
from vas_bench.spark.place import SparkPlace, versions
from vas_bench.spark.subjects import SERVICE, WORKLOADS, SparkSubject, subjects
from vas_core.cli import json_option, note
from vas_core.root import Root
from vas_core.table import print_table
from vas_lab.disk import check_disk, free_bytes
from vas_lab.state import default_directory
from vas_yarn.small_cluster import MAX_HOSTS
from vas_yarn.spark.installation import install_spark

GOALS = Path(__file__).with_name("goals.yaml")
# The input, the output, what a failed attempt leaves, map output, and the tables.
_COPIES = 5
_LAB_SECONDS = 40.0
Rounds = Sequence[Round[SparkSubject]]


@click.command()
@rounds_option("Runs on each system.")
@size_option
@click.option(
    "--workload",
    "chosen",
    multiple=True,
    type=click.Choice(list(WORKLOADS)),
    help="Only this one; repeatable [default: all].",
)
@click.option(
    "--hosts",
    type=click.IntRange(1, MAX_HOSTS),
    default=4,
    show_default=True,
    help="Hosts of the lab.",
)
@rounds_options
@dry_run_option
@json_option
def spark(
    size: int,
    chosen: tuple[str, ...],
    hosts: int,
    session: RoundsRequest,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure Spark's map output on Lustre against its own.

    A sort, six queries on tables of a shop, and the sort again with an executor killed in its
    reduce stage. Spark's own shuffle has its external shuffle service on each node; the last
    workload also runs without. Every round runs each workload once on each system, in an order
    drawn by lot, and compares what was made. Requests to the file system and files of map output
    are counted.

    \b
    Examples: vas bench spark --dry-run
              vas bench spark --resume spark.jsonl
              vas bench spark --workload sort --size 256M --rounds 1 --json
    \f
    Raises BadInput where the data do not fit on the disk, VasError when a row is invalid.
    """
    jobs = subjects(chosen or WORKLOADS, size, hosts)
    if dry_run:
        _say(_drawn(jobs, session, {}))
        return
    check_disk(free_bytes(default_directory("bench-spark")), size=size, copies=_COPIES)
    install_spark(note)
    drawn = _drawn(jobs, session, versions())
    runs = _measure([each for rounds in drawn.values() for each in rounds], session, hosts)
    found = _rows({kind: runs_of(rounds, runs) for kind, rounds in drawn.items()})
    print_rows(found, as_json=as_json)
    refuse_invalid_rows(found)


def _drawn(
    jobs: Mapping[str, list[SparkSubject]], session: RoundsRequest, found: Mapping[str, str]
) -> dict[str, list[Round[SparkSubject]]]:
    """Draws the rounds of each workload; without versions in a dry run, which needs no Spark."""

    def identity(subject: SparkSubject) -> RunIdentity[SparkSubject]:
        settings = {**(small(subject.hosts) if found else {}), **subject.properties}
        # Where Spark lies on this machine makes no other experiment.
        settings.pop("spark.yarn.jars", None)
        return RunIdentity(subject, settings, found)

    return {kind: session.draw([*map(identity, each)]) for kind, each in jobs.items()}


def _say(drawn: Mapping[str, Rounds]) -> None:
    whole = [each for rounds in drawn.values() for each in rounds]
    print_table(("ROUND", "SECONDS"), ((it.title, f"{it.experiment.seconds:.0f}") for it in whole))
    seconds = _LAB_SECONDS + sum(each.experiment.seconds for each in whole)
    note(f"{seconds / 60:.0f} min on two quiet cores")


def _measure(drawn: Rounds, session: RoundsRequest, hosts: int) -> tuple[BenchRun, ...]:
    here = environment(Root())
    with session.store({"hosts": hosts}) as store:
        where = session.resume or Path("results")
        left = left_to_do(drawn, store.content, here, file=where, resume=True)
        if left:
            note_left(_play(left, store, session.budget, hosts).left)
        return tuple(store.runs)


def _play(left: Rounds, store: RunStore, budget: int | None, hosts: int) -> Played[SparkSubject]:
    here = environment(Root())
    observer = Observer("spark", "vas bench spark", here, lambda: environment(Root()))
    limit = Budget(budget)
    with SparkPlace.open(hosts) as place:
        return play_shown(
            lambda it: observer.observe(it, lambda: place.play(it.experiment)),
            left,
            store.append,
            learned=default_directory("bench-spark") / "run-seconds.json",
            estimates=Estimates(left, [Expected(0.0, it.experiment.seconds) for it in left]),
            budget=limit,
        )


def goals() -> dict[str, tuple[Goal, ...]]:
    """Returns workload -> its goals. Raises BadInput for a file that is not theirs."""
    found = read_goals(GOALS)
    return {kind: (*found[kind], *found["every"]) for kind in WORKLOADS}


def _rows(runs: Mapping[str, Sequence[BenchRun]]) -> list[GoalRow]:
    of = goals()
    return [row for kind in runs for row in rows(WORKLOADS[kind], of[kind], runs[kind], SERVICE)]
