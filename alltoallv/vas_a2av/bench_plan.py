"""Decides which calls `vas a2av bench` simulates, which it computes, and which it leaves out.

What a simulation needs grows with the ranks: linear sends P x (P - 1) messages, and relayed blocks
are all in the memory of the machine that simulates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vas_a2av.model import PredictedCall, predict
from vas_a2av.simulation import PLATFORMS, SimulatedCase, SimulatedCost, needs_shared_memory
from vas_core.sizes import format_size

WITH_RADIX = ("tuna", "sloav2", "sloav2x")
MOST_BYTES = 8 << 30
# Above so many ranks the messages of a call of linear take hours.
MOST_RANKS_OF_LINEAR = 1024
_MOST_RANKS = 4096  # each with arrays of its own for all others
_DIRECT_BYTES = 1024  # the library's VAS_A2AV_DIRECT
_RELAYING = ("sloav", "two-phase", "tuna", "sloavx")
_WITH_LEADERS = ("sloavx", "sloav2x")
# The mean size of a block, as a part of the largest.
_MEAN = {"equal": 1.0, "uniform": 0.5, "normal": 0.5, "one-hot": 1 / 64}


@dataclass(frozen=True)
class PlannedCall:
    """A call of one algorithm. It is computed by the model where `computed` is set.

    `left_out`: why nothing can be said about it; empty where something can.
    """

    case: SimulatedCase
    algorithm: str
    radix: int
    computed: bool = False
    left_out: str = ""

    @property
    def name(self) -> str:
        """The algorithm, with its radix where it has one."""
        return f"{self.algorithm}, radix {self.radix}" if self.has_radix else self.algorithm

    @property
    def has_radix(self) -> bool:
        """Tells whether the algorithm has a radix that can be chosen."""
        return self.algorithm in WITH_RADIX


def plan(
    cases: Iterable[SimulatedCase], algorithms: Sequence[str], radices: Sequence[int]
) -> list[PlannedCall]:
    """Returns the calls of each case: by algorithm, then by radix where it has one."""
    return [
        _planned(case, algorithm, radix)
        for case in cases
        for algorithm in algorithms
        for radix in (radices if algorithm in WITH_RADIX else (2,))
    ]


def compute(call: PlannedCall) -> SimulatedCost:
    """Returns what the model predicts of a call that is computed: of linear or pairwise.

    The model has no cost of a block by itself: these algorithms copy none.
    """
    case, network = call.case, PLATFORMS[call.case.platform].network
    mean = case.size * _mean(case)
    found = predict(call.algorithm, 2, PredictedCall(case.ranks, case.node_ranks, mean))
    counts = (found.messages, round(found.sent_bytes), 0, 0)
    return SimulatedCost(call.algorithm, 2, found.seconds(network), *counts, call.algorithm, 2, 0)


def _planned(case: SimulatedCase, algorithm: str, radix: int) -> PlannedCall:
    many = case.ranks > MOST_RANKS_OF_LINEAR
    if algorithm in ("linear", "pairwise"):
        return PlannedCall(case, algorithm, radix, computed=many)
    return PlannedCall(case, algorithm, radix, left_out=_why_not(case, algorithm))


def _why_not(case: SimulatedCase, algorithm: str) -> str:
    if algorithm in ("mpi", "auto") and case.ranks > MOST_RANKS_OF_LINEAR:
        return f"a message for each block would take hours on {case.ranks} ranks"
    if case.ranks > _MOST_RANKS and not needs_shared_memory(case, algorithm):
        if case.node_ranks == 1:
            return "without nodes of several ranks it is sloav or sloav2"
        return f"each of {case.ranks} ranks would need arrays of its own for all others"
    if _relayed_bytes(case, algorithm) > MOST_BYTES:
        needed = format_size(_relayed_bytes(case, algorithm))
        return f"relayed blocks of {format_size(case.size)} would need {needed} of memory"
    return ""


def _relayed_bytes(case: SimulatedCase, algorithm: str) -> int:
    """Returns about how many bytes all ranks together keep of relayed blocks."""
    size = case.size if algorithm in _RELAYING else min(case.size, _DIRECT_BYTES)
    if algorithm in ("mpi", "auto"):
        return 0
    hops = max(1.0, math.log2(case.ranks) / 4)
    return round(case.ranks**2 * size * _mean(case) * 2 * hops)


def _mean(case: SimulatedCase) -> float:
    if case.distribution == "power-law":  # size / k for k from 1 to size + 1
        return (math.log(case.size + 1) + 0.58) / (case.size + 1)
    return _MEAN[case.distribution]
