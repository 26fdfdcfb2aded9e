"""Reads a placement that `vas affinity plan` wrote."""

from __future__ import annotations

from pathlib import Path

from vas_affinity.placement import HostPlacement
from vas_core.documents import read_json


def read_placement(path: Path) -> HostPlacement:
    """Returns the placement in a file. Raises BadInput that names the file and the wrong key."""
    return read_json(
        path, HostPlacement, kind="plan", hint="write one with `vas affinity plan --out FILE`"
    )
