"""The jar of the project's own jobs."""

from __future__ import annotations

from pathlib import Path

from vas_core.errors import NotHere
from vas_core.repository import REPOSITORY

_WORKLOADS = REPOSITORY / "yarn-plugins/workloads/target"


def workloads_jar() -> Path:
    """Returns the jar of the project's own jobs. Raises NotHere before it is built."""
    found = sorted(_WORKLOADS.glob("vas-workloads-*.jar"))
    if not found:
        raise NotHere(
            "the workloads are not built", where=str(_WORKLOADS), hint="run `./vas build`"
        )
    return found[-1]
