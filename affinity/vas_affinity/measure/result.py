"""A measurement of CPU to CPU latency: its file, and the distances that it gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
from pydantic import Field

from vas_affinity.distance import Distances
from vas_affinity.topology import Frozen, Topology
from vas_core.documents import read_json
from vas_core.errors import BadInput


class Pair(Frozen):
    """Two CPUs: the median, least and greatest nanoseconds of a line's way one way."""

    a: int
    b: int
    ns: float = Field(gt=0)
    least_ns: float = Field(gt=0)
    most_ns: float = Field(gt=0)


class Measurement(Frozen):
    """The pairs that were measured on a host, `samples` times `rounds` round trips each.

    `partial`: pairs were left out; those are taken as near as the ratio table has them.
    """

    host: str
    cpus: tuple[int, ...]
    rounds: int
    samples: int
    partial: bool
    pairs: tuple[Pair, ...]


def read_measurement(path: Path) -> Measurement:
    """What `vas affinity measure` wrote. Raises BadInput that names file and key."""
    hint = "write one with `vas affinity measure --out FILE`"
    return read_json(path, Measurement, kind="measurement", hint=hint)


def measured_distances(
    ratio: Distances, topology: Topology, measurement: Measurement, where: Path | str
) -> Distances:
    """The ratio table's distances, with measured ones in their place. Pure.

    Nanoseconds become the table's unit by the nearest class of pairs that was measured, so that
    the weights keep their meaning. A pair that was left out takes its class's median: the pairs
    that are as far by the table. Raises BadInput for another machine's measurement.
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
