"""What a daemon leaves for the one after it, so that a restart changes no path."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_core.files import write_atomically
from vas_routing.links import Leg, State

FILE = "paths.json"
SRIOV = ""
"""How the SR-IOV leg is called among the paths; the others have the names of their peers."""


class Memory(BaseModel):
    """The states of the paths, who ever answered by which leg, and the data fabric's network."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fabric: str | None = None
    paths: dict[str, State] = {}
    heard: frozenset[tuple[Leg, str]] = frozenset()

    def write(self, state: Path) -> None:
        """Replaces the file in a directory."""
        write_atomically(state / FILE, self.model_dump_json(indent=2) + "\n")


def read_memory(state: Path) -> Memory:
    """What the last daemon left since the machine was started; nothing if it is unreadable."""
    try:
        return Memory.model_validate_json((state / FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return Memory()
