"""Reading a placement that `vas affinity plan` wrote."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from vas_affinity.placement import Placement
from vas_core.errors import BadInput


def read_placement(path: Path) -> Placement:
    """The placement in a file. Raises BadInput that names the file and the first wrong key."""
    hint = "write one with `vas affinity plan --out FILE`"
    try:
        return Placement.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise BadInput("there is no such plan", where=str(path), hint=hint) from None
    except ValidationError as wrong:
        first = wrong.errors()[0]
        key = ".".join(map(str, first["loc"]))
        what = f"{key}: {first['msg']}" if key else first["msg"]
        raise BadInput(f"is no plan: {what}", where=str(path), hint=hint) from None
