"""States a host's placement problem: its entities, and the arrays of each term of the score."""

from vas_affinity.entities.entity import Entity, EntityKind, entity_of
from vas_affinity.entities.graph import PairWeights, ThreadGraph, graph_of, read_graph
from vas_affinity.entities.problem import HostProblem

__all__ = [
    "Entity",
    "EntityKind",
    "HostProblem",
    "PairWeights",
    "ThreadGraph",
    "entity_of",
    "graph_of",
    "read_graph",
]
