"""A measurement of latencies between CPUs: its file, and the distances that follow from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
from pydantic import Field

from vas_affinity.machine.distance import Distances
from vas_affinity.machine.topology import Frozen, MachineTopology
from vas_core.documents import read_json
from vas_core.errors import BadInput


class CpuPair(Frozen):
    """The latency between two CPUs, one way, in nanoseconds: median, least and greatest."""

    a: int
    b: int
    ns: float = Field(gt=0)
    least_ns: float = Field(gt=0)
    most_ns: float = Field(gt=0)


class Measurement(Frozen):
    """The latencies of a host's pairs of CPUs, each of `samples` times `rounds` round trips.

    `partial`: some pairs were not measured; they take the median of their class.
    """

    host: str
    cpus: tuple[int, ...]
    rounds: int
    samples: int
    partial: bool
    pairs: tuple[CpuPair, ...]


def read_measurement(path: Path) -> Measurement:
    """Reads what `vas affinity measure` wrote. Raises BadInput that names file and key."""
    hint = "write one with `vas affinity measure --out FILE`"
    return read_json(path, Measurement, kind="measurement", hint=hint)


def measured_distances(
    ratio: Distances, topology: MachineTopology, measurement: Measurement, where: Path | str
) -> Distances:
    """Replaces the ratio table's distances by measured ones. Pure.

    Nanoseconds are scaled to the table's unit by the nearest class of pairs that was measured, so
    that the weights keep their meaning. A pair that was not measured takes the median of its class:
    the pairs of equal distance in the table. Raises BadInput for another machine's measurement.
    """
    strange = sorted(set(measurement.cpus) ^ set(topology.online))
    if strange:
        what = f"is of another machine: CPU {strange[0]} is not in both"
        raise BadInput(what, where=str(where), hint="measure on this one")
    classes: dict[float, list[float]] = {}
    index = ratio.index
    for pair in measurement.pairs:
        far = float(ratio.between[index[pair.a], index[pair.b]])
        classes.setdefault(far, []).append(pair.ns)
    if not classes:
        return ratio
    nearest = min(classes)
    unit = nearest / median(classes[nearest])
    between = ratio.between.copy()
    for far, found in classes.items():
        between[ratio.between == far] = median(found) * unit
    np.fill_diagonal(between, np.diagonal(ratio.between))
    for pair in measurement.pairs:
        rows = index[pair.a], index[pair.b]
        between[rows] = between[rows[::-1]] = pair.ns * unit
    return replace(ratio, between=between, source=f"measured on {measurement.host}")
