"""Holds the content of the files that `vas-routed` reads, as one value that can be kept."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from vas_cluster import Cluster
from vas_routing.choices import MeasuredPair
from vas_routing.kernel import RouteKernel
from vas_routing.node import RoutedNode
from vas_routing.policy import Choices
from vas_routing.settings import RouteSettings


class Inputs(BaseModel):
    """The map, the settings, the measured choices, and which node of the map this machine is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    cluster: Cluster
    settings: RouteSettings
    pairs: tuple[MeasuredPair, ...] = ()

    @classmethod
    def of(cls, name: str, cluster: Cluster, settings: RouteSettings, choices: Choices) -> Inputs:
        """Builds the value from a node's name and the parsed files."""
        pairs = (MeasuredPair(nodes=sorted(nodes), faster=leg) for nodes, leg in choices.items())
        return cls(name=name, cluster=cluster, settings=settings, pairs=tuple(pairs))

    @property
    def choices(self) -> Choices:
        """The faster leg between two nodes, for the pairs that were measured."""
        return {frozenset(pair.nodes): pair.faster for pair in self.pairs}

    def node(self, state: Path) -> RoutedNode:
        """Returns the node, in the kernel of this network namespace, with its state directory."""
        return RoutedNode(self.cluster, self.name, RouteKernel(self.settings), state)
