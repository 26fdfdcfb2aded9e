"""Reading a placement that `vas affinity plan` wrote."""

from __future__ import annotations

from pathlib import Path

from vas_affinity.placement import Placement
from vas_core.documents import read_json


def read_placement(path: Path) -> Placement:
    """The placement in a file. Raises BadInput that names the file and the first wrong key."""
    return read_json(
        path, Placement, kind="plan", hint="write one with `vas affinity plan --out FILE`"
    )
