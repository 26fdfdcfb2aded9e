"""Remembers the settings that the kernel refused to change, so that they are reported once.

Only a refused write tells that the kernel manages an interrupt.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_core.files import write_atomically
from vas_core.predictable_names import IMMOVABLE
from vas_core.safe_open import read_own

_FILE = IMMOVABLE.of()
_MOST_BYTES = 16 << 20


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    why: dict[str, str] = {}


def read_immovable(state: Path) -> dict[str, str]:
    """Returns setting key -> reason; empty if nothing was recorded.

    Raises Planted if the file is not our own, as `open_own` does.
    """
    try:
        content = read_own(state / _FILE, _MOST_BYTES, also_of=(0,))
        return dict(_Document.model_validate_json(content).why)
    except (FileNotFoundError, ValidationError):
        return {}


def record_immovable(state: Path, outcomes: Iterable[SettingResult]) -> None:
    """Adds the settings that were refused, and removes those that were changed since.

    Raises OSError if the file cannot be written, Planted if it is not our own.
    """
    known = read_immovable(state)
    why = dict(known)
    for outcome in outcomes:
        if outcome.verdict is ApplyOutcome.IMMOVABLE:
            why[outcome.key] = outcome.why
        elif outcome.verdict is not ApplyOutcome.FAILED:
            why.pop(outcome.key, None)
    if why != known:
        write_atomically(state / _FILE, _Document(why=why).model_dump_json(indent=2) + "\n")
