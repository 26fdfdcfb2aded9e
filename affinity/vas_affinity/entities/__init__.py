"""What is placed on a host's CPUs, and the arrays of its score: the one problem of all planners."""

from vas_affinity.entities.entity import Entity, EntityKind, entity_of
from vas_affinity.entities.graph import PairWeights, graph_of, read_graph
from vas_affinity.entities.problem import HostProblem

__all__ = [
    "Entity",
    "EntityKind",
    "HostProblem",
    "PairWeights",
    "entity_of",
    "graph_of",
    "read_graph",
]
