"""Messages between a network's starter and its PID 1: a line of JSON each way."""

from __future__ import annotations

from pydantic import BaseModel

from vas_cluster import Cluster
from vas_lab.inside.mounts import RUN_VAS

CLUSTER_FILE = RUN_VAS / "cluster.yaml"
"""The path of the map inside the namespaces."""


class NetworkWanted(BaseModel):
    """The network to make; `shaped`: its links are a tenth as fast as those of Table 4.1."""

    cluster: Cluster
    shaped: bool


class NetworkMade(BaseModel):
    """The network made: `holders` is node -> process, by its id inside, that holds its namespaces.

    `error` says why no network was made; None if one was.
    """

    holders: dict[str, int] = {}
    error: str | None = None
