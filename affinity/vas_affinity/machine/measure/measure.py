"""The command `vas affinity measure`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import comb
from pathlib import Path
from statistics import median

import click
from rich.console import Console
from rich.progress import Progress

from vas_affinity.machine.distance import Distances, ratio_distances
from vas_affinity.machine.measure.pairs import pairs_to_measure
from vas_affinity.machine.measure.pingpong import built, measure_pair
from vas_affinity.machine.measure.result import CpuPair, Measurement
from vas_affinity.machine.reading import read_snapshot
from vas_affinity.options import cpus_here
from vas_core.cli import json_option, note, print_json
from vas_core.errors import NotHere
from vas_core.files import write_atomically
from vas_core.root import Root
from vas_core.shown import counted
from vas_core.table import print_table


@click.command()
@click.option("--out", type=click.Path(path_type=Path), help="Write the measurement to this file.")
@click.option("--cpus", metavar="LIST", help="Measure pairs of these CPUs only, like 0-3,8.")
@click.option(
    "--pairs", type=click.IntRange(1), default=400, help="Largest number of pairs [default: 400]."
)
@click.option(
    "--rounds", type=click.IntRange(1), default=2000, help="Round trips per sample [default: 2000]."
)
@click.option(
    "--samples", type=click.IntRange(1), default=15, help="Samples per pair [default: 15]."
)
@json_option
def measure(
    out: Path | None, cpus: str | None, pairs: int, rounds: int, samples: int, as_json: bool
) -> None:
    """Measure how long a cache line takes from CPU to CPU.

    Two threads pinned to the CPUs of a pair increment a counter in turn. The result is half of a
    round trip, the median of all samples. If the machine has more pairs, some of each kind are
    measured, and the others count as equal to those. Measure while the machine is idle. The option
    --distances of `vas affinity plan` uses the result.

    \b
    Examples: vas affinity measure --out distances.json
              vas affinity measure --cpus 0-7 --json

    \f
    Raises NotHere on a machine with one CPU, and without a C compiler.
    """
    snapshot = read_snapshot(Root())
    distances = ratio_distances(snapshot.topology).only(cpus_here(cpus))
    chosen = _some_pairs(distances, pairs, snapshot.host)
    with built() as program:
        found = _all(program, chosen, rounds=rounds, samples=samples)
    measurement = Measurement(
        host=snapshot.host,
        cpus=snapshot.topology.online,
        rounds=rounds,
        samples=samples,
        partial=len(found) < comb(len(snapshot.topology.online), 2),
        pairs=tuple(found),
    )
    if out:
        write_atomically(out, measurement.model_dump_json(indent=2) + "\n")
        note(f"{out}: {counted(len(found), 'pair')}")
    if as_json:
        print_json(measurement.model_dump(mode="json"))
    elif not out:
        print_table(("PAIRS AS FAR", "PAIRS", "NS", "LEAST", "MOST"), _rows(found, distances))


def _some_pairs(distances: Distances, most: int, host: str) -> list[tuple[int, int]]:
    chosen = pairs_to_measure(distances, most)
    if not chosen:
        raise NotHere("the machine has one CPU, and no pair to measure", where=host)
    return chosen


def _all(
    program: Path, pairs: Sequence[tuple[int, int]], *, rounds: int, samples: int
) -> list[CpuPair]:
    console = Console(file=sys.stderr)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        return [
            measure_pair(program, a, b, rounds=rounds, samples=samples)
            for a, b in progress.track(pairs, description="pairs of CPUs")
        ]


def _rows(pairs: Sequence[CpuPair], distances: Distances) -> list[tuple[str, ...]]:
    """Groups the pairs by their distance in the ratio table."""
    classes: dict[float, list[CpuPair]] = {}
    for pair in pairs:
        far = float(distances.between[distances.index[pair.a], distances.index[pair.b]])
        classes.setdefault(far, []).append(pair)
    return [
        (
            f"{far:g}",
            str(len(found)),
            f"{median(pair.ns for pair in found):.1f}",
            f"{min(pair.least_ns for pair in found):.1f}",
            f"{max(pair.most_ns for pair in found):.1f}",
        )
        for far, found in sorted(classes.items())
    ]
