"""Predicts the cost of a call by a model in the manner of LogGP: overheads, latency, bytes.

    seconds = messages x 2 o + waits x L + sent bytes x G x sharers + copied bytes x C + strings x H

`waits` counts the latencies that follow one another: messages that are under way at once have one
between them. `sharers` are the messages that share a link at the same time: those of a node's
ranks, and in rounds those of other nodes, as all ranks send over the same distance. A string is
what a rank hands another one of its node, in SLOAV2x. The library chooses by the same model,
core/choose.c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vas_a2av.rounds import positions

_LENGTH_BYTES = 4
_SIZE_BYTES = 8
_DIRECT_BYTES = 1024  # the library's VAS_A2AV_DIRECT
WORTH = 0.8  # core/choose.h's A2AV_WORTH
_SHARED = 4  # core/choose.h's A2AV_SHARED


@dataclass(frozen=True)
class Network:
    """A machine's figures: seconds and bytes per second; `vas a2av tune` measures them."""

    overhead_seconds: float = 0.7e-6
    latency_seconds: float = 0.5e-6
    bytes_per_second: float = 5e9
    copy_bytes_per_second: float = 10e9
    local_seconds: float = 0.2e-6

    @property
    def message_seconds(self) -> float:
        """Seconds of a message of one byte, from its sender's start to its receiver's end."""
        return 2 * self.overhead_seconds + self.latency_seconds


@dataclass(frozen=True)
class PredictedCall:
    """A call to predict: ranks, ranks of each node, and the mean size of a block in bytes."""

    ranks: int
    node_ranks: int
    mean_bytes: float

    @property
    def nodes(self) -> int:
        """The number of nodes; the last one may have fewer ranks."""
        return -(-self.ranks // self.node_ranks)

    @property
    def shared(self) -> int:
        """The number of messages of a round that share a link between nodes."""
        return _SHARED if self.nodes > 2 else 1


@dataclass(frozen=True)
class Prediction:
    """A call of an algorithm: the messages and bytes of one rank, and what its time depends on."""

    algorithm: str
    radix: int
    leaders: int
    messages: int
    waits: int
    sent_bytes: float
    sharers: int
    copied_bytes: float = 0.0
    strings: int = 0

    def startup_seconds(self, network: Network) -> float:
        """Returns the seconds of a call that do not depend on the size of blocks."""
        sending = self.messages * 2 * network.overhead_seconds
        return sending + self.waits * network.latency_seconds + self.strings * network.local_seconds

    def seconds(self, network: Network) -> float:
        """Returns all seconds of a call: start-ups, sending and copying."""
        sending = self.sent_bytes * self.sharers / network.bytes_per_second
        copying = self.copied_bytes / network.copy_bytes_per_second
        return self.startup_seconds(network) + sending + copying


def predict(algorithm: str, radix: int, call: PredictedCall, leaders: int = 2) -> Prediction:
    """Returns the prediction for a call. Raises KeyError if `algorithm` is not the name of one."""
    return _MODELS[algorithm](algorithm, radix, call, leaders)


def candidates(call: PredictedCall) -> list[Prediction]:
    """Returns a prediction for each algorithm, and for each power of two as a radix.

    Algorithms with leaders are only predicted for several nodes of several ranks.
    """
    found = [predict(name, 2, call) for name in ("linear", "pairwise", "sloav", "two-phase")]
    for radix in _powers(call.ranks):
        found += [predict(name, radix, call) for name in ("tuna", "sloav2")]
    if call.nodes < 2 or call.node_ranks < 2:
        return found
    found.append(predict("sloavx", 2, call))
    choices = [(radix, each) for radix in _powers(call.nodes) for each in (1, 2, 4, 8)]
    # The library has no more leaders than there are nodes, or ranks of the smallest node.
    most = min(call.nodes, call.ranks % call.node_ranks or call.node_ranks)
    return found + [
        predict("sloav2x", radix, call, each) for radix, each in choices if each <= most
    ]


def chosen(found: list[Prediction], network: Network) -> Prediction | None:
    """Returns what the library chooses among candidates; None if it leaves the call to MPI.

    The library chooses an algorithm only if it is predicted to need less than WORTH of the time of
    sending each block by itself, as MPI's own function does.
    """
    own = next(each for each in found if each.algorithm == "linear").seconds(network)
    ours = [each for each in found if each.algorithm in ("sloav2", "sloav2x")]
    best = min(ours, key=lambda each: each.seconds(network))
    return best if best.seconds(network) < WORTH * own else None


def _powers(most: int) -> list[int]:
    return [1 << power for power in range(1, 7) if 1 << power <= max(most, 2)]


def _linear(name: str, radix: int, call: PredictedCall, leaders: int) -> Prediction:
    sent = (call.ranks - 1) * call.mean_bytes
    return Prediction(name, radix, leaders, call.ranks - 1, 1, sent, call.node_ranks)


def _pairwise(name: str, radix: int, call: PredictedCall, leaders: int) -> Prediction:
    messages, sent = call.ranks - 1, (call.ranks - 1) * call.mean_bytes
    return Prediction(name, radix, leaders, messages, messages, sent, call.node_ranks)


def _sloav_among(ranks: int, mean_bytes: float) -> tuple[int, float]:
    blocks = [count for position in positions(ranks, 2) for count in position.blocks]
    head = len(blocks) * (_SIZE_BYTES + _LENGTH_BYTES)
    return 2 * len(blocks), head + sum(blocks) * (mean_bytes + _LENGTH_BYTES)


def _sloav(name: str, _radix: int, call: PredictedCall, leaders: int) -> Prediction:
    messages, sent = _sloav_among(call.ranks, call.mean_bytes)
    sharers = call.node_ranks * call.shared
    return Prediction(name, 2, leaders, messages, messages, sent, sharers, 2 * sent)


def _tuna(name: str, radix: int, call: PredictedCall, leaders: int) -> Prediction:
    blocks = [count for position in positions(call.ranks, radix) for count in position.blocks]
    messages = 2 * len(blocks) + math.ceil(math.log2(call.ranks))
    sent = sum(blocks) * (call.mean_bytes + _LENGTH_BYTES)
    sharers = call.node_ranks * call.shared
    return Prediction(name, radix, leaders, messages, messages, sent, sharers, 2 * sent)


def _two_phase(name: str, _radix: int, call: PredictedCall, leaders: int) -> Prediction:
    return _tuna(name, 2, call, leaders)


def _sloav2(name: str, radix: int, call: PredictedCall, leaders: int) -> Prediction:
    """Equal lengths in call after call are a byte a message; each position waits once."""
    every = positions(call.ranks, radix)
    blocks = [count for position in every for count in position.blocks]
    if call.mean_bytes > _DIRECT_BYTES:
        sent, messages = (call.ranks - 1) * call.mean_bytes + len(blocks), call.ranks - 1
        return Prediction(
            name, radix, leaders, messages + len(blocks), len(every), sent, call.node_ranks
        )
    sent = len(blocks) + sum(blocks) * call.mean_bytes
    sharers = call.node_ranks * call.shared
    return Prediction(name, radix, leaders, len(blocks), len(every), sent, sharers, 2 * sent)


def _sloavx(name: str, _radix: int, call: PredictedCall, leaders: int) -> Prediction:
    """A node's link has one sender. The tree has a string a level, up and down."""
    block = call.node_ranks**2 * (call.mean_bytes + 1)
    messages, sent = _sloav_among(call.nodes, block)
    part = call.ranks * call.node_ranks * (call.mean_bytes + 1)
    strings = 4 * math.ceil(math.log2(call.node_ranks))
    copied = 2 * sent + 4 * part
    return Prediction(name, 2, leaders, messages, messages, sent, call.shared, copied, strings)


def _sloav2x(name: str, radix: int, call: PredictedCall, leaders: int) -> Prediction:
    """A leader's share: a byte of length for each block, and a copy at each hand."""
    every = positions(call.nodes, radix)
    blocks = [count for position in every for count in position.blocks]
    small = 0.0 if call.mean_bytes > _DIRECT_BYTES else (call.ranks - 1) * call.mean_bytes
    direct = (call.ranks - 1) if call.mean_bytes > _DIRECT_BYTES else 0
    part = (small + call.ranks) * call.node_ranks / leaders
    sent = part * sum(blocks) / max(call.nodes - 1, 1)
    copied = 2 * sent + 4 * part
    strings = 2 * (call.node_ranks + leaders)
    messages = len(blocks) + direct
    sharers = leaders * call.shared
    return Prediction(name, radix, leaders, messages, len(every), sent, sharers, copied, strings)


_MODELS = {
    "linear": _linear,
    "pairwise": _pairwise,
    "sloav": _sloav,
    "two-phase": _two_phase,
    "tuna": _tuna,
    "sloav2": _sloav2,
    "sloavx": _sloavx,
    "sloav2x": _sloav2x,
}
