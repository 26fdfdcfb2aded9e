"""Finds vas-shuffled, which serves map output from the nodes' own disks, and configures a lab
whose NodeManagers start it."""

from __future__ import annotations

from pathlib import Path

from vas_core.errors import NotHere
from vas_core.repository import REPOSITORY
from vas_yarn.submit.medium import SERVICE, SERVICE_KEY

_PROGRAM = REPOSITORY / "shuffled/target/release/vas-shuffled"
# A lab's nodes share one machine: a quarter of the daemon's default for each.
_MEMORY = "64m"


def find_shuffled() -> Path:
    """Returns the path of the program vas-shuffled. Raises NotHere if it is not built."""
    if not _PROGRAM.is_file():
        hint = "run `./vas --yes build --native`, which installs a Rust compiler"
        raise NotHere("vas-shuffled is not built", where=str(_PROGRAM), hint=hint)
    return _PROGRAM


def shuffled_properties() -> dict[str, str]:
    """Returns properties with which a lab's NodeManagers start vas-shuffled.

    Jobs with stock's shuffle run as before. Raises NotHere if vas-shuffled is not built.
    """
    return {
        SERVICE_KEY: SERVICE,
        "vas.shuffled.program": str(find_shuffled()),
        "vas.shuffled.memory": _MEMORY,
    }
