"""The command `vas a2av verify`."""

from __future__ import annotations

from functools import partial

import click

from vas_a2av.building import MpiKind, build_for, installed_mpis
from vas_a2av.launching import launch
from vas_a2av.mpi_option import mpi_option
from vas_core.cli import json_option, print_json
from vas_core.errors import FoundDifferent
from vas_core.showing import one_shown


@click.command()
@mpi_option("MPI to compare with; default: the first found.")
@click.option(
    "--ranks", type=click.IntRange(1, 1024), default=9, show_default=True, help="Number of ranks."
)
@click.option(
    "--cases", type=click.IntRange(1), default=300, show_default=True, help="Number of cases."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Random seed.")
@json_option
def verify(kind: MpiKind | None, ranks: int, cases: int, seed: int, as_json: bool) -> None:
    """Compare the library with an MPI, byte for byte.

    Each case has a random number of the ranks, counts, displacements, datatypes, algorithm and
    settings. Send buffers are mapped read-only. Exits with 3 when a byte differs.

    \b
    Example: vas a2av verify --mpi mpich --ranks 13 --cases 1000
    """
    kind = kind or installed_mpis()[0]
    name = f"{cases} cases on {ranks} ranks of {kind.name}"
    said = one_shown(name, partial(verify_on, kind, ranks, cases, seed))
    if as_json:
        print_json({"mpi": kind.name, "ranks": ranks, "cases": cases, "seed": seed, "result": said})
        return
    click.echo(f"{kind.name}: {said}")


def verify_on(kind: MpiKind, ranks: int, cases: int, seed: int) -> str:
    """Runs the oracle, which compares the library with an MPI, and returns its last line.

    Raises FoundDifferent when a byte differs or the oracle ends in another way.
    """
    program = build_for(kind, "oracle") / "oracle"
    done = launch(kind, ranks, [program, str(cases), str(seed)], check=False, timeout_seconds=3600)
    if done.status != 0:
        text = (done.stderr.strip() or done.stdout.strip())[-2000:]
        raise FoundDifferent(f"not what {kind.name} gives (exit status {done.status}): {text}")
    return done.stdout.strip().splitlines()[-1].removeprefix("oracle: ")
