"""The result of applying or comparing each setting of a placement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from vas_affinity.apply.setting import Value
from vas_core.errors import ExitStatus


class ApplyOutcome(StrEnum):
    """Names how a setting compares with the placement, or what was done to it."""

    AS_DESIRED = "as desired"
    CHANGED = "changed"
    RESTORED = "restored"
    DIFFERENT = "different"
    """The setting has another value; after a change, the kernel did not keep the new one."""
    TO_RESTORE = "to restore"
    IMMOVABLE = "immovable"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class SettingResult:
    """One setting: its value before, the wanted value, and its value now.

    A value of None stands for "no pin", or for a value that was not read. `key` names the setting
    in the journal.
    """

    what: str
    wanted: Value
    verdict: ApplyOutcome
    before: Value = None
    now: Value = None
    why: str = ""
    key: str = ""

    def as_json(self) -> dict[str, object]:
        """Returns the fields as the commands print them with --json."""
        return {**vars(self), "verdict": self.verdict.value}


def status_of(results: Iterable[SettingResult]) -> ExitStatus:
    """Returns a command's exit status. Immovable and skipped settings are not failures."""
    outcomes = {result.verdict for result in results}
    if ApplyOutcome.FAILED in outcomes:
        return ExitStatus.FAILED
    return ExitStatus.DIFFERENT if ApplyOutcome.DIFFERENT in outcomes else ExitStatus.DONE
