"""What was tried and cannot be moved: no one is to be told again that it is not where it should.

Whether the kernel manages an interrupt is known only by a write that it refuses.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_affinity.apply.outcome import Outcome, Verdict
from vas_core.files import write_atomically
from vas_core.predictable_names import IMMOVABLE
from vas_core.safe_open import read_own

_FILE = IMMOVABLE.of()
_MOST_BYTES = 16 << 20


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    why: dict[str, str] = {}


def read_immovable(state: Path) -> dict[str, str]:
    """Returns why, by key; empty where nothing was recorded. Raises Planted, as `open_own` does."""
    try:
        content = read_own(state / _FILE, _MOST_BYTES, also_of=(0,))
        return dict(_Document.model_validate_json(content).why)
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
