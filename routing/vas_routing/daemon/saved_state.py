"""Saves the states of a daemon's paths for the next daemon, so that a restart changes no path."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_core.files import write_atomically
from vas_routing.links import Leg, PathState

FILE = "paths.json"
SRIOV = ""
"""How the SR-IOV leg is called among the paths; the others have the names of their peers."""


class SavedState(BaseModel):
    """The states of the paths, who ever answered by which leg, and the data fabric's network.

    `peers_sriov`: what peers said of their SR-IOV legs. `drained`: legs that were out of use.
    `trusted`: the wire and keys by which they answered. `devices`: the indices of the legs'
    interfaces, which stay theirs when they are renamed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    fabric: str | None = None
    paths: dict[str, PathState] = {}
    peers_sriov: dict[str, PathState] = {}
    heard: frozenset[tuple[Leg, str]] = frozenset()
    trusted: frozenset[str] = frozenset()
    devices: dict[Leg, int] = {}
    drained: frozenset[Leg] = frozenset()

    def heard_by(self, trusted: frozenset[str]) -> frozenset[tuple[Leg, str]]:
        """Returns the nodes whose silence counts for a daemon of this wire version and these keys.

        A node that answered by another wire version or key may not answer now (it is upgraded
        later, or has no key yet), so its silence makes no path dead. A path that is dead stays dead
        until somebody answers by it.
        """
        if self.trusted & trusted:
            return self.heard
        return frozenset((leg, node) for leg, node in self.heard if self._is_dead(leg, node))

    def _is_dead(self, leg: Leg, node: str) -> bool:
        return self.paths.get(SRIOV if leg is Leg.SRIOV else node) is PathState.DOWN

    def write(self, state: Path) -> None:
        """Replaces the file of saved states in a directory. Raises OSError."""
        write_atomically(state / FILE, self.model_dump_json(indent=2) + "\n")


def read_saved_state(state: Path) -> SavedState:
    """Returns the states that the last daemon saved since the machine started.

    An empty state is returned for a file that is missing or cannot be used.
    """
    try:
        return SavedState.model_validate_json((state / FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return SavedState()
