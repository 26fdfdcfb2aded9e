"""Measured distances."""

from __future__ import annotations

import os

import numpy as np
import pytest

from vas_affinity.machine.distance import ratio_distances
from vas_affinity.machine.measure.pairs import pairs_to_measure
from vas_affinity.machine.measure.pingpong import built, measure_pair
from vas_affinity.machine.measure.result import CpuPair, Measurement, measured_distances
from vas_bench.search.instances import machine
from vas_core.errors import BadInput

TOPOLOGY = machine(packages=2, nodes=2, caches=1, cores=4, threads=2)
RATIO = ratio_distances(TOPOLOGY)


def _measured(*pairs: tuple[int, int, float]) -> Measurement:
    found = tuple(CpuPair(a=a, b=b, ns=ns, least_ns=ns, most_ns=ns) for a, b, ns in pairs)
    return Measurement(
        host="h", cpus=TOPOLOGY.online, rounds=1, samples=1, partial=True, pairs=found
    )


def test_every_kind_of_pair_is_measured_within_the_limit() -> None:
    pairs = pairs_to_measure(RATIO, 30)
    assert len(pairs) == len(set(pairs)) <= 30
    kinds = {RATIO.between[a, b] for a, b in pairs}
    assert kinds == set(np.unique(RATIO.between))
    assert pairs == pairs_to_measure(RATIO, 30)
    assert len(pairs_to_measure(RATIO, 10**6)) == 32 * 31 / 2


def test_measured_pairs_stand_in_for_the_table_and_for_their_kind() -> None:
    found = measured_distances(RATIO, TOPOLOGY, _measured((0, 1, 5.0), (0, 16, 500.0)), "m.json")
    assert found.between[0, 1] == RATIO.between[0, 1]  # the nearest kind gives the unit
    assert found.between[0, 16] == found.between[16, 0] == 100 * RATIO.between[0, 1]
    assert found.between[1, 17] == found.between[0, 16]  # of its kind, not measured
    assert found.between[0, 2] == RATIO.between[0, 2]  # a kind that nobody measured
    assert (np.diagonal(found.between) == np.diagonal(RATIO.between)).all()


def test_another_machines_measurement_is_refused() -> None:
    other = _measured((0, 1, 5.0)).model_copy(update={"cpus": (0, 1)})
    with pytest.raises(BadInput, match="another machine"):
        measured_distances(RATIO, TOPOLOGY, other, "m.json")


@pytest.mark.machine
def test_two_cpus_of_this_machine() -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one CPU")
    with built() as program:
        pair = measure_pair(program, cpus[0], cpus[1], rounds=200, samples=5)
    assert 0 < pair.least_ns <= pair.ns <= pair.most_ns
