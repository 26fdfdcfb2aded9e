"""The command `vas a2av tune`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from vas_a2av.building import MpiKind, build_for, installed_mpis
from vas_a2av.launching import launch, launch_by
from vas_a2av.model import Network
from vas_a2av.mpi_option import launcher_option, mpi_option
from vas_a2av.network_file import network_path, parse_network, write_network
from vas_core.cli import json_option, print_json
from vas_core.errors import BadInput
from vas_core.files import check_writable
from vas_core.showing import one_shown

_TIMEOUT_SECONDS = 300.0
_ALIKE = 1.5  # two measurements of an undisturbed machine differ less
_DISTURBED = (
    "vas: the two measurements differ by more than half: other work ran beside them; run this "
    "again when none does"
)


@click.command()
@mpi_option("MPI to measure with; default: the first found.")
@launcher_option("Command that starts two ranks, such as 'srun -N 2'.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the figures; default: in ~/.cache/vas.",
)
@json_option
def tune(
    kind: MpiKind | None, launcher: tuple[str, ...], output: Path | None, as_json: bool
) -> None:
    """Measure this machine's messages and copies.

    Two ranks exchange messages for some seconds, twice. Let --launcher start them on two nodes: on
    one machine alone its memory is measured, not a network. Where other work disturbs it, the two
    differ: a line says so, and so does the file. The library reads the file when a communicator
    is first used.

    \b
    Example: vas a2av tune --mpi openmpi --launcher 'mpiexec.openmpi -n 2 --map-by node'

    \f
    Raises BadInput where the file cannot be written.
    """
    if output:
        check_writable(output)
    kind = kind or installed_mpis()[0]
    path = output or network_path(kind.family)
    _make_directory(path.parent)
    both = partial(_measure_twice, kind, launcher)
    text, disturbed = one_shown(f"two ranks of {kind.name}", both)
    where = shlex.join(launcher) or "two ranks of a machine"
    source = f"vas a2av tune, {kind.name}, {where}"
    write_network(path, text, f"{source}; disturbed" if disturbed else source)
    if as_json:
        network = parse_network(text, where="a2av tune")
        print_json({"mpi": kind.name, "file": str(path), "disturbed": disturbed} | asdict(network))
        return
    click.echo(f"{text}written to {path}")
    if disturbed:
        click.echo(_DISTURBED, err=True)


def _measure_twice(kind: MpiKind, launcher: Sequence[str]) -> tuple[str, bool]:
    """Returns the lines of the faster measurement, and whether the two are not alike."""
    texts = [measure(kind, launcher) for _ in range(2)]
    found = [(parse_network(text, where="a2av tune"), text) for text in texts]
    found.sort(key=lambda each: each[0].message_seconds)
    return found[0][1], not alike(found[0][0], found[1][0])


def alike(one: Network, other: Network) -> bool:
    """Tells whether two measurements say the same of a machine, as far as work beside them lets
    them."""
    pairs = (
        (one.message_seconds, other.message_seconds),
        (one.bytes_per_second, other.bytes_per_second),
        (one.copy_bytes_per_second, other.copy_bytes_per_second),
        (one.local_seconds, other.local_seconds),
    )
    return all(max(pair) <= min(pair) * _ALIKE for pair in pairs)


def _make_directory(cache: Path) -> None:
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        hint = "set XDG_CACHE_HOME to a directory that you may write to, or use --output"
        raise BadInput(f"cannot be made: {wrong.strerror}", where=str(cache), hint=hint) from wrong


def measure(kind: MpiKind, launcher: Sequence[str] = ()) -> str:
    """Runs the program that measures, and returns its lines. Raises CommandFailed."""
    program = build_for(kind, "tune") / "tune"
    if launcher:
        return launch_by(
            launcher, [program], prints="overhead_ns", timeout_seconds=_TIMEOUT_SECONDS
        ).stdout
    return launch(kind, 2, [program], timeout_seconds=_TIMEOUT_SECONDS).stdout
