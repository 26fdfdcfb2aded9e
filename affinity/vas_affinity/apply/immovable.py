"""What was tried and cannot be moved: no one is to be told again that it is not where it should.

Whether the kernel manages an interrupt is known only by a write that it refuses.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_affinity.apply.outcome import Outcome, Verdict
from vas_core.files import write_atomically

_FILE = "immovable.json"


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    why: dict[str, str] = {}


def read_immovable(state: Path) -> dict[str, str]:
    """Why, by key; none where nothing was recorded."""
    try:
        return dict(_Document.model_validate_json((state / _FILE).read_bytes()).why)
    except (FileNotFoundError, ValidationError):
        return {}


def record_immovable(state: Path, outcomes: Iterable[Outcome]) -> None:
    """Takes in what came of an application."""
    known = read_immovable(state)
    why = dict(known)
    for outcome in outcomes:
        if outcome.verdict is Verdict.IMMOVABLE:
            why[outcome.key] = outcome.why
        elif outcome.verdict is not Verdict.FAILED:
            why.pop(outcome.key, None)
    if why != known:
        write_atomically(state / _FILE, _Document(why=why).model_dump_json(indent=2) + "\n")
