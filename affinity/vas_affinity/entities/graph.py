"""Reads which threads communicate, and which devices they serve, as `vas affinity graph` saw it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from vas_affinity.machine.snapshot import Snapshot
from vas_core.documents import read_json

PairWeights = dict[tuple[str, str], float]
"""Pair of thread keys -> weight of their communication, each pair once."""


class _Pair(BaseModel):
    model_config = ConfigDict(extra="ignore")

    a: str
    b: str
    weight: float = Field(ge=0, allow_inf_nan=False)


class _Served(BaseModel):
    model_config = ConfigDict(extra="ignore")

    device: str


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    pairs: tuple[_Pair, ...]
    devices: dict[str, _Served] = {}


@dataclass(frozen=True)
class ThreadGraph:
    """The weights of pairs of threads, and key -> device of threads that a disk's requests
    wake."""

    pairs: PairWeights = field(default_factory=dict)
    devices: Mapping[str, str] = field(default_factory=dict)

    def named_in(self, snapshot: Snapshot) -> Snapshot:
        """Returns the snapshot, in which threads have the devices that only the graph knows.

        A device that the machine does not have is left out.
        """
        there = {device.name for device in snapshot.devices}
        there |= {line.device for line in snapshot.interrupts}
        known = {key: device for key, device in self.devices.items() if device in there}
        threads = tuple(
            thread.model_copy(update={"device": known[thread.key]})
            if thread.device is None and thread.key in known
            else thread
            for thread in snapshot.threads
        )
        return snapshot.model_copy(update={"threads": threads})


def read_graph(path: Path) -> ThreadGraph:
    """Returns the graph in a file. Raises BadInput that names file and key."""
    hint = "write one with `vas affinity graph --out FILE`"
    found = read_json(path, _File, kind="graph", hint=hint)
    pairs = graph_of((pair.a, pair.b, pair.weight) for pair in found.pairs)
    return ThreadGraph(pairs, {key: one.device for key, one in found.devices.items()})


def graph_of(pairs: Iterable[tuple[str, str, float]]) -> PairWeights:
    """Makes a graph of triples (key, key, weight).

    The two orders of a pair add up; a pair of a thread with itself is left out.
    """
    graph: PairWeights = {}
    for a, b, weight in pairs:
        if a != b:
            pair = (min(a, b), max(a, b))
            graph[pair] = graph.get(pair, 0.0) + weight
    return graph
