"""The options of `vas a2av bench`: what is simulated, or measured on an MPI."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from vas_a2av.bench_real import RealCase
from vas_a2av.building import MpiKind
from vas_a2av.mpi_option import launcher_option, mpi_option
from vas_a2av.simulation import MOST_RANKS, PLATFORMS, SimulatedCase
from vas_core.errors import BadInput
from vas_core.options import shared

ALGORITHMS = (
    "mpi",
    "auto",
    "linear",
    "pairwise",
    "sloav",
    "two-phase",
    "tuna",
    "sloav2",
    "sloavx",
    "sloav2x",
)
DISTRIBUTIONS = ("equal", "uniform", "normal", "power-law", "one-hot")
_RANKS, _CALLS, _PLATFORM, _ROUNDS = 64, 4, "torus", 7


def _make_case(
    kind: MpiKind | None,
    launcher: tuple[str, ...],
    rounds: int | None,
    ranks: int | None,
    distribution: str,
    calls: int | None,
    seed: int,
    node_ranks: int | None,
    leaders: int,
    platform: str | None,
) -> SimulatedCase | RealCase:
    if kind is None:
        _refuse({"--launcher": launcher, "--rounds": rounds}, "a simulation", "add --mpi")
        where = (ranks or _RANKS, 0, distribution, calls or _CALLS, seed, node_ranks or 1, leaders)
        return SimulatedCase(*where, platform or _PLATFORM)
    _refuse({"--platform": platform}, "--mpi", "leave one of them out")
    if launcher:
        _refuse({"--ranks": ranks}, "--launcher", "let the launcher start as many")
    return RealCase(
        kind, launcher, ranks or max(2, os.cpu_count() or 2), distribution, calls or 0, seed,
        node_ranks or 0, leaders, rounds or _ROUNDS,
    )  # fmt: skip


def _refuse(options: dict[str, Any], other: str, hint: str) -> None:
    """Raises BadInput for the first of these options that was given."""
    for name, value in options.items():
        if value:
            what = f"{name} has no meaning with {other}"
            raise BadInput(what, where="a2av bench", hint=hint)


def _number(name: str, most: int | None, text: str) -> Callable[..., Any]:
    least = 2 if name == "--ranks" else 1
    return click.option(name, type=click.IntRange(least, most), help=text)


case_options = shared(
    "case",
    _make_case,
    mpi_option("MPI to measure on; default: the calls are simulated."),
    launcher_option("With --mpi: command that starts the ranks, such as 'srun -N 2 -n 32'."),
    _number("--rounds", 1000, f"With --mpi: rounds of all algorithms in turn; default: {_ROUNDS}."),
    _number(
        "--ranks", MOST_RANKS,
        f"Number of ranks; default: {_RANKS}, with --mpi as many as this machine has cores.",
    ),
    click.option(
        "--distribution",
        type=click.Choice(DISTRIBUTIONS),
        default="uniform",
        show_default=True,
        help="Distribution of block sizes.",
    ),
    _number(
        "--calls", None,
        f"Calls that are timed; default: {_CALLS}, with --mpi as many a round as take 0.1 s.",
    ),
    _number(
        "--node-ranks", None,
        "Ranks on a node; default: 1, with --mpi all of a machine.",
    ),
    click.option(
        "--platform",
        type=click.Choice(sorted(PLATFORMS)),
        help=f"Machine whose network is simulated; default: {_PLATFORM}.",
    ),
    click.option(
        "--leaders", type=click.IntRange(1), default=2, show_default=True, help="Leaders on a node."
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Random seed of sizes."),
)  # fmt: skip
