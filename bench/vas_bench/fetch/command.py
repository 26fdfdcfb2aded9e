"""The command `vas bench fetch`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import click

from vas_bench.engine.observe import Observer
from vas_bench.engine.play import (
    Budget,
    Estimates,
    Expected,
    Played,
    note_left,
    play_shown,
    refuse_invalid,
)
from vas_bench.engine.resume import left_to_do
from vas_bench.engine.rounds import Round, RunIdentity, runs_of
from vas_bench.fetch.place import FetchPlace, check_machine, versions
from vas_bench.fetch.subjects import ARMS, FetchSubject, subjects
from vas_bench.fetch.table import COLUMNS, rows
from vas_bench.options import RoundsRequest, dry_run_option, rounds_option, rounds_options
from vas_bench.results.environment import environment
from vas_bench.results.measures import FETCH
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore
from vas_bench.results.systems import Fetching
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.durations import format_duration
from vas_core.errors import BadInput
from vas_core.root import Root
from vas_core.table import print_table
from vas_lab.state import default_directory

_SMALLEST_SIZE = 1 << 20
_SMALLEST_READ, _LARGEST_READ = 64 << 10, 16 << 20
_MOST_CLIENTS = 64
Rounds = Sequence[Round[FetchSubject]]


@click.command()
@rounds_option("Runs of each arm.")
@click.option(
    "--size", type=SizeType(), default="1G", show_default=True, help="Size of all map output."
)
@click.option(
    "--maps", type=click.IntRange(1), default=32, show_default=True, help="Number of map outputs."
)
@click.option(
    "--clients",
    "numbers",
    multiple=True,
    type=click.IntRange(1, _MOST_CLIENTS),
    default=(1, 4),
    show_default=True,
    help="Clients of the one server; repeatable.",
)
@click.option(
    "--heap-mib",
    type=click.IntRange(64),
    default=400,
    show_default=True,
    help="Heap of each client's JVM in MiB.",
)
@click.option(
    "--arm",
    "names",
    multiple=True,
    type=click.Choice(ARMS),
    help="Only this arm; repeatable [default: all].",
)
@click.option(
    "--read-size",
    "reads",
    multiple=True,
    type=SizeType(),
    help="vas.shuffle.read-size of the daemon's clients; repeatable, 64K to 16M.",
)
@rounds_options
@dry_run_option
@json_option
def fetch(
    size: int,
    maps: int,
    numbers: tuple[int, ...],
    heap_mib: int,
    names: tuple[str, ...],
    reads: tuple[int, ...],
    session: RoundsRequest,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure one server of map output and its clients.

    Stock's ShuffleHandler, Fetcher and MergeManager against vas-shuffled and NodeMerge: the same
    map output, in the page cache, in a network of its own on this machine. Counts CPU seconds,
    requests, connections and memory. Every round has each arm once with each number of clients,
    in an order drawn by lot, and compares all records that were read with those written.

    \b
    Examples: vas bench fetch --dry-run
              vas bench fetch --resume fetch.jsonl
              vas bench fetch --rounds 3 --size 256M --clients 1 --json
              vas bench fetch --arm 'stock fetch' --arm vas-shuffled --budget 20m
              vas bench fetch --arm vas-shuffled --read-size 64K --read-size 1M
    \f
    Raises BadInput for sizes out of bounds, NotHere for a program that is missing.
    """
    if size < _SMALLEST_SIZE:
        raise BadInput("too small to measure", where="--size", hint="1M or more")
    for read in reads:
        if not _SMALLEST_READ <= read <= _LARGEST_READ:
            raise BadInput("is out of bounds", where="--read-size", hint="64K to 16M")
    arms = cast(tuple[Fetching, ...], tuple(dict.fromkeys(names))) or ARMS
    read_sizes = sorted(set(reads))
    amount = {"size_bytes": size, "maps": maps, "heap_mib": heap_mib}
    each = subjects(arms, sorted(set(numbers)), read_sizes, **amount)
    if dry_run:
        _say(session.draw([RunIdentity(it, {}, {}) for it in each]))
        return
    check_machine()
    of_arm = {arm: versions(arm) for arm in arms}
    identities = [RunIdentity(it, {}, of_arm[it.system]) for it in each]
    made = _measure(session.draw(identities), session)
    _print(made, as_json)
    refuse_invalid(made)


def _say(drawn: Rounds) -> None:
    steps = _estimates(drawn).steps(drawn)
    print_table(("ROUND", "SECONDS"), ((s.name, f"{s.expected_seconds:.0f}") for s in steps))
    total = format_duration(sum(step.expected_seconds for step in steps))
    note(f"about {total} on two quiet cores (estimated)")


def _estimates(drawn: Rounds) -> Estimates[FetchSubject]:
    return Estimates(drawn, [Expected(0.0, each.experiment.seconds) for each in drawn])


def _measure(drawn: Rounds, session: RoundsRequest) -> list[BenchRun]:
    here = environment(Root())
    with session.store({}) as store:
        where = session.resume or Path("results")
        left = left_to_do(drawn, store.content, here, file=where, resume=True)
        if left:
            note_left(_play(left, store, session.budget).left)
        return runs_of(drawn, store.runs)


def _play(left: Rounds, store: RunStore, budget: int | None) -> Played[FetchSubject]:
    here = environment(Root())
    observer = Observer(FETCH, "vas bench fetch", here, lambda: environment(Root()))
    with FetchPlace.open(left[0].experiment) as place:
        return play_shown(
            lambda it: observer.observe(it, lambda: place.play(it.experiment)),
            left,
            store.append,
            learned=default_directory("bench") / "fetch-seconds.json",
            estimates=_estimates(left),
            budget=Budget(budget),
        )


def _print(made: Sequence[BenchRun], as_json: bool) -> None:
    found = rows(made)
    if as_json:
        print_json({"rows": [row.as_json() for row in found]})
        return
    print_table(COLUMNS, (row.as_cells() for row in found))
