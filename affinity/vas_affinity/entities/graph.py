"""Reads which threads communicate, from the output of `vas affinity graph`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from vas_core.documents import read_json

PairWeights = dict[tuple[str, str], float]
"""Pair of thread keys -> weight of their communication, each pair once."""


class _Pair(BaseModel):
    model_config = ConfigDict(extra="ignore")

    a: str
    b: str
    weight: float = Field(ge=0, allow_inf_nan=False)


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    pairs: tuple[_Pair, ...]


def read_graph(path: Path) -> PairWeights:
    """Returns the graph in a file. Raises BadInput that names file and key."""
    hint = "write one with `vas affinity graph --out FILE`"
    found = read_json(path, _File, kind="graph", hint=hint)
    return graph_of((pair.a, pair.b, pair.weight) for pair in found.pairs)


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
