"""Reads the cost of calls on a real MPI, which bench/bench.c prints for each of several rounds."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vas_a2av.spread import Spread, spread_of
from vas_core.errors import BadInput

_MOST_BYTES = (2 << 30) - 1  # of a rank's blocks together: a call's displacements are `int`
_OF_ROUND = ("seconds", "cpu_seconds", "packets")


@dataclass(frozen=True)
class RealRound:
    """The cost of one call in one round: `cpu_seconds` and `packets` are of all ranks together.

    `packets`: what the interfaces of all machines sent, whoever sent it.
    """

    seconds: float
    cpu_seconds: float
    packets: float


@dataclass(frozen=True)
class RealCost:
    """The cost of one call of an algorithm: medians of the rounds, and the rounds.

    `used`: what did the calls, as in `SimulatedCost`. Messages and bytes are what rank 0 sends in
    the last round's calls, by call. `crowded`: a machine had more ranks than cores.
    """

    algorithm: str
    radix: int
    size: int
    used: str
    used_radix: int
    used_leaders: int
    ranks: int
    machines: int
    crowded: bool
    calls: int
    messages: int
    payload_bytes: int
    metadata_bytes: int
    scratch_bytes: int
    seconds: float
    cpu_seconds: float
    packets: float
    rounds: tuple[RealRound, ...]

    def spread(self, figure: str) -> Spread:
        """Returns the spread of `seconds`, `cpu_seconds` or `packets` of a call."""
        return spread_of(getattr(each, figure) for each in self.rounds)


def check_sizes(sizes: Sequence[int], ranks: int, command: str) -> None:
    """Raises BadInput for sizes of which a rank's blocks would be too large together."""
    if max(sizes) * ranks > _MOST_BYTES:
        most = _MOST_BYTES // ranks
        what = f"--size {max(sizes)}: on {ranks} ranks a block has at most {most} bytes"
        raise BadInput(what, where=command, hint="use a smaller size, or fewer ranks")


def costs_of(printed: str) -> list[RealCost]:
    """Returns the cost of each algorithm and radix that the benchmark printed, in its order."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for line in printed.splitlines():
        if line.startswith("{"):
            values = json.loads(line)
            found.setdefault((values["algorithm"], values["radix"]), []).append(values)
    return [_cost(rounds) for rounds in found.values()]


def _cost(rounds: list[dict[str, Any]]) -> RealCost:
    values = {name: value for name, value in rounds[-1].items() if name not in _NOT_KEPT}
    medians = {name: statistics.median(each[name] for each in rounds) for name in _OF_ROUND}
    kept = tuple(RealRound(**{name: each[name] for name in _OF_ROUND}) for each in rounds)
    return RealCost(**values, **medians, size=rounds[-1]["bytes"], rounds=kept)


_NOT_KEPT = (*_OF_ROUND, "bytes", "distribution", "round", "decision")
