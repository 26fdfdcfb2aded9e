"""Predicts the cost of a call by a model in the manner of LogGP: overheads, latency, bytes.

    seconds = messages x 2 o + waits x L + bytes x G

`waits` counts the latencies that follow one another: messages that are under way at once have one
between them. Copies cost nothing here, as in `vas a2av bench`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vas_a2av.rounds import positions

_LENGTH_BYTES = 4
_SIZE_BYTES = 8
_DIRECT_BYTES = 1024  # the library's VAS_A2AV_DIRECT


@dataclass(frozen=True)
class Network:
    """An interconnect: seconds of overhead at each end and of latency; bytes per second."""

    overhead_seconds: float = 0.7e-6
    latency_seconds: float = 0.5e-6
    bytes_per_second: float = 5e9


@dataclass(frozen=True)
class Prediction:
    """The messages and bytes that one rank sends in a call of an algorithm, and the call's time."""

    algorithm: str
    radix: int
    messages: int
    waits: int
    sent_bytes: float

    def startup_seconds(self, network: Network) -> float:
        """Returns the seconds that do not depend on the size of blocks."""
        return self.messages * 2 * network.overhead_seconds + self.waits * network.latency_seconds

    def seconds(self, network: Network) -> float:
        """Returns the seconds of a call."""
        return self.startup_seconds(network) + self.sent_bytes / network.bytes_per_second


def predict(algorithm: str, radix: int, ranks: int, mean_bytes: float) -> Prediction:
    """Predicts a call whose blocks have so many bytes on average.

    Raises KeyError for a name that is not an algorithm.
    """
    return _MODELS[algorithm](algorithm, radix, ranks, mean_bytes)


def _linear(name: str, radix: int, ranks: int, mean_bytes: float) -> Prediction:
    return Prediction(name, radix, ranks - 1, 1, (ranks - 1) * mean_bytes)


def _pairwise(name: str, radix: int, ranks: int, mean_bytes: float) -> Prediction:
    return Prediction(name, radix, ranks - 1, ranks - 1, (ranks - 1) * mean_bytes)


def _sloav(name: str, _radix: int, ranks: int, mean_bytes: float) -> Prediction:
    blocks = [count for position in positions(ranks, 2) for count in position.blocks]
    head = len(blocks) * (_SIZE_BYTES + _LENGTH_BYTES)
    sent = head + sum(blocks) * (mean_bytes + _LENGTH_BYTES)
    return Prediction(name, 2, 2 * len(blocks), 2 * len(blocks), sent)


def _tuna(name: str, radix: int, ranks: int, mean_bytes: float) -> Prediction:
    blocks = [count for position in positions(ranks, radix) for count in position.blocks]
    messages = 2 * len(blocks) + math.ceil(math.log2(ranks))
    return Prediction(name, radix, messages, messages, sum(blocks) * (mean_bytes + _LENGTH_BYTES))


def _two_phase(name: str, _radix: int, ranks: int, mean_bytes: float) -> Prediction:
    return _tuna(name, 2, ranks, mean_bytes)


def _sloav2(name: str, radix: int, ranks: int, mean_bytes: float) -> Prediction:
    """Equal lengths in call after call are a byte a message; each position waits once."""
    every = positions(ranks, radix)
    blocks = [count for position in every for count in position.blocks]
    if mean_bytes > _DIRECT_BYTES:
        sent = (ranks - 1) * mean_bytes + len(blocks)
        return Prediction(name, radix, ranks - 1 + len(blocks), len(every), sent)
    sent = len(blocks) + sum(blocks) * mean_bytes
    return Prediction(name, radix, len(blocks), len(every), sent)


_MODELS = {
    "linear": _linear,
    "pairwise": _pairwise,
    "sloav": _sloav,
    "two-phase": _two_phase,
    "tuna": _tuna,
    "sloav2": _sloav2,
}
