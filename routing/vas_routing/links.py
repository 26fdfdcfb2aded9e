"""Defines the states of a node's paths, the policy's input next to the map, and reads them from a
file."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, IPvAnyNetwork, ValidationError

from vas_core.errors import BadInput
from vas_core.problems import DocumentProblems, structure_problems
from vas_core.reading import read_limited

# A site of 10,000 guests has some 2 MB.
_MOST_BYTES = 64 << 20


class PathState(StrEnum):
    """The state of a path, by its carrier and its probes: whether it carries packets."""

    UP = "up"
    DOWN = "down"


class Leg(StrEnum):
    """One of a node's two ways to another node."""

    VIRTIO = "virtio"
    SRIOV = "sriov"


class NodeLinks(BaseModel):
    """The states of one node's paths. Peers are the other nodes on its host, by name.

    For a peer that is not named, the virtio path is down and the SR-IOV leg up.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sriov: Annotated[
        PathState, Field(description="the node's own SR-IOV leg: PF of a host, VF of a guest")
    ]
    virtio: Annotated[
        Mapping[str, PathState], Field(description="the virtio path to each peer on the same host")
    ] = {}
    peers_sriov: Annotated[
        Mapping[str, PathState], Field(description="what each peer reports of its own SR-IOV leg")
    ] = {}
    fabric: Annotated[
        IPvAnyNetwork, Field(description="the data fabric, as the SR-IOV leg's address has it")
    ]
    sriov_device: Annotated[
        str | None, Field(description="the SR-IOV interface's name, if not the map's")
    ] = None
    virtio_device: Annotated[
        str | None,
        Field(description="a guest's virtio NIC, or a host's bridge, if not called as usual"),
    ] = None
    drained: Annotated[
        frozenset[Leg],
        Field(description="legs that are down because an administrator drained them"),
    ] = frozenset()
    absent: Annotated[
        frozenset[str], Field(description="interfaces of these names are not there, or not now")
    ] = frozenset()

    def reaches(self, peer: str) -> bool:
        """Returns whether the virtio path to a peer is up."""
        return self.virtio.get(peer) is PathState.UP

    def sriov_of(self, peer: str) -> PathState:
        """Returns the state of a peer's SR-IOV leg."""
        return self.peers_sriov.get(peer, PathState.UP)


def read_links(file: Path) -> NodeLinks:
    """Reads the JSON of a links file. Raises BadInput, which names file and key, if it is wrong."""
    try:
        return NodeLinks.model_validate_json(read_limited(file, _MOST_BYTES))
    except OSError as wrong:
        raise BadInput(f"cannot be read: {wrong.strerror}", where=str(file)) from wrong
    except ValidationError as wrong:
        raise DocumentProblems(file, structure_problems(wrong, NodeLinks)) from wrong
