"""Defines the messages between a network's starter and its PID 1: a line of JSON each way."""

from __future__ import annotations

from pydantic import BaseModel

from vas_cluster import Cluster
from vas_lab.inside.mounts import RUN_VAS

CLUSTER_FILE = RUN_VAS / "cluster.yaml"
"""The path of the map inside the namespaces."""


class NetworkWanted(BaseModel):
    """The network to make; `shaped`: links have a tenth of the speeds in the paper's Table 4.1."""

    cluster: Cluster
    shaped: bool


class NetworkMade(BaseModel):
    """The answer when the network is made, or could not be: `error` is None, or the reason.

    `holders` is node -> id, inside, of the process that holds its namespaces.
    """

    holders: dict[str, int] = {}
    error: str | None = None
