"""`vas affinity measure`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import comb
from pathlib import Path
from statistics import median

import click
from rich.console import Console
from rich.progress import Progress

from vas_affinity.distance import Distances, ratio_distances
from vas_affinity.measure.pairs import pairs_to_measure
from vas_affinity.measure.pingpong import built, measure_pair
from vas_affinity.measure.result import Measurement, Pair
from vas_affinity.options import cpus_here
from vas_affinity.reading import read_snapshot
from vas_core.cli import json_option, note, print_json, print_table
from vas_core.errors import NotHere
from vas_core.files import write_atomically
from vas_core.root import Root


@click.command()
@click.option("--out", type=click.Path(path_type=Path), help="Write the measurement to this file.")
@click.option("--cpus", metavar="LIST", help="Pairs of these CPUs only: 0-3,8.")
@click.option("--pairs", type=click.IntRange(1), default=400, help="The most pairs: 400.")
@click.option("--rounds", type=click.IntRange(1), default=2000, help="Round trips a sample: 2000.")
@click.option("--samples", type=click.IntRange(1), default=15, help="Samples a pair: 15.")
@json_option
def measure(
    out: Path | None, cpus: str | None, pairs: int, rounds: int, samples: int, as_json: bool
) -> None:
    """Measure how long a cache line takes from CPU to CPU.

    Two threads pinned to the pair's CPUs count it up in turn: half of a round trip, the median of
    all samples. Of a machine with more pairs some of each kind are measured, and the others are
    taken to be like those of their kind. Measure while the machine is idle. `vas affinity plan
    --distances FILE` plans by it.

    \b
    Examples: vas affinity measure --out distances.json
              vas affinity measure --cpus 0-7 --json
    """
    snapshot = read_snapshot(Root())
    distances = ratio_distances(snapshot.topology).only(cpus_here(cpus))
    chosen = pairs_to_measure(distances, pairs)
    if not chosen:
        raise NotHere("there is one CPU: nothing lies between two", where=snapshot.host)
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
        note(f"{out}: {len(found)} pairs")
    if as_json:
        print_json(measurement.model_dump(mode="json"))
    elif not out:
        print_table(("PAIRS AS FAR", "PAIRS", "NS", "LEAST", "MOST"), _rows(found, distances))


def _all(
    program: Path, pairs: Sequence[tuple[int, int]], *, rounds: int, samples: int
) -> list[Pair]:
    console = Console(file=sys.stderr)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        return [
            measure_pair(program, a, b, rounds=rounds, samples=samples)
            for a, b in progress.track(pairs, description="pairs of CPUs")
        ]


def _rows(pairs: Sequence[Pair], distances: Distances) -> list[tuple[str, ...]]:
    """By how far the table has the pairs."""
    classes: dict[float, list[Pair]] = {}
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
