"""Options that several benchmarks share, and the runs of a file that one of them names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import click
from click.decorators import FC
from pydantic import JsonValue

from vas_bench.engine.rounds import Round, RunIdentity, S, draw_rounds
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore, read_results
from vas_core.cli import DurationType, SizeType, note
from vas_core.options import dry_run, shared

_file = click.Path(path_type=Path, dir_okay=False)
results_path = click.Path(path_type=Path, exists=True, dir_okay=False)

budget_option = click.option(
    "--budget", type=DurationType(), help="Begin no run that would end later: 90s, 20m, 2h."
)
dry_run_option = dry_run("Print what would run and how long it takes.")
size_option = click.option(
    "--size", type=SizeType(), default="1G", show_default=True, help="Input size."
)
skip_damaged_option = click.option(
    "--skip-damaged", is_flag=True, help="Leave out lines that are not runs, and print which."
)


def rounds_option(text: str, default: int = 5) -> Callable[[FC], FC]:
    """Returns the option --rounds, whose help is this text."""
    return click.option(
        "--rounds", type=click.IntRange(1), default=default, show_default=True, help=text
    )


@dataclass(frozen=True, kw_only=True)
class PlanSession:
    """The file of a plan, the file of its runs, whether to go on from those, and the budget.

    `budget` is in seconds; None is the plan's own.
    """

    plan_file: Path
    out: Path | None
    resume: bool
    budget: int | None

    def target(self, name: str) -> Path:
        """Returns the file of runs of the plan of that name: `out`, else NAME.jsonl here."""
        return self.out or Path(f"{name}.jsonl")


plan_options = shared(
    "session",
    PlanSession,
    click.argument("plan_file", metavar="PLAN.yaml", type=click.Path(path_type=Path, exists=True)),
    click.option("--out", type=_file, help="The file of results [default: the plan's name.jsonl]."),
    click.option("--resume", is_flag=True, help="Go on from the runs that are in the file."),
    budget_option,
)
"""Gives a command a `session`, a `PlanSession`."""


@dataclass(frozen=True, kw_only=True)
class RoundsRequest:
    """How often subjects run, the seed of their order, and the file of their runs, if any.

    `budget` is in seconds. Rounds of the warm-up come first.
    """

    rounds: int
    seed: int
    resume: Path | None
    budget: int | None
    warm_up: int = 0

    def draw(self, identities: Sequence[RunIdentity[S]]) -> list[Round[S]]:
        """Draws all rounds of these subjects."""
        return draw_rounds(identities, rounds=self.rounds, warm_up=self.warm_up, seed=self.seed)

    def store(self, settings: Mapping[str, JsonValue]) -> AbstractContextManager[RunStore]:
        """Opens the file of runs; without one runs are kept in memory alone.

        `settings`, and the seed, are what all its runs have in common. Raises as
        `RunStore.open`.
        """
        header = {**settings, "seed": self.seed} if self.resume else None
        return RunStore.open(self.resume, header)


rounds_options = shared(
    "session",
    RoundsRequest,
    click.option(
        "--seed",
        type=click.IntRange(0),
        default=1,
        show_default=True,
        help="Random seed of the order.",
    ),
    click.option(
        "--resume",
        type=_file,
        help="Keep the runs in this file; go on from those that are in it.",
    ),
    budget_option,
)
"""Gives a command `session`: the RoundsRequest of these options and its own --rounds, --warm-up."""


def read_runs(path: Path, skip_damaged: bool) -> tuple[BenchRun, ...]:
    """Returns the runs of a file; prints on stderr what it leaves out.

    Raises BadInput for a file that cannot be read or has no run; for damaged lines, unless
    `skip_damaged`.
    """
    return read_results(path, say=note, skip_damaged=skip_damaged)
