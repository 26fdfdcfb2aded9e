"""The options that experiments share, and the runs of their rounds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import click
from pydantic import JsonValue

from vas_bench.engine.observe import Observation, Observer
from vas_bench.engine.play import Budget, Estimates, Expected, note_left, play_shown
from vas_bench.engine.resume import Environment
from vas_bench.engine.rounds import ArmSubject, Round, missing, runs_of
from vas_bench.options import RoundsRequest
from vas_bench.pinning.design import FEWEST_RUNS
from vas_bench.results.environment import environment
from vas_bench.results.record import BenchRun
from vas_core.cli import RealRange
from vas_core.root import Root

A = TypeVar("A")
runs_option = click.option(
    "--runs",
    "rounds",
    type=click.IntRange(FEWEST_RUNS),
    default=12,
    show_default=True,
    help="Runs of each arm.",
)
seconds_option = click.option(
    "--seconds", type=RealRange(0.05), default=2.0, show_default=True, help="Seconds of a run."
)
alpha_option = click.option(
    "--alpha",
    type=RealRange(0, 1),
    default=0.05,
    show_default=True,
    help="Level of significance.",
)


def play_experiment(
    drawn: Sequence[Round[ArmSubject[A]]],
    session: RoundsRequest,
    settings: Mapping[str, JsonValue],
    observe: Callable[[A], Observation],
    *,
    root: Root,
    names: tuple[str, str],
    seconds: float,
) -> list[BenchRun]:
    """Makes the runs that the file of --resume lacks; returns all runs of the drawn rounds.

    `observe` runs an arm once, in about `seconds`. `names` are the prefix of the runs' ids, and the
    command that they keep.
    """

    def here() -> Environment:
        return environment(root)

    observer = Observer(*names, here(), here)
    with session.store(settings) as store, tempfile.TemporaryDirectory() as directory:
        left = missing(drawn, store.content.runs)
        ended = play_shown(
            lambda it: observer.observe(it, lambda: observe(it.experiment.arm)),
            left,
            store.append,
            learned=Path(directory) / "seconds.json",
            estimates=Estimates(left, [Expected(0.0, seconds)] * len(left)),
            budget=Budget(session.budget),
        )
        note_left(ended.left)
        return runs_of(drawn, store.runs)
