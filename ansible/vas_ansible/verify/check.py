"""Defines a check of a site, and the result of the command that it judges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_NOT_HERE = 77
# Ansible's message for a program that does not exist.
_NOT_STARTED = "Error executing command."
_MOST_CHARS = 400


class CheckStatus(StrEnum):
    """Outcome of a check: passed, failed or not run."""

    OK = "ok"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Check:
    """A check of a node: the observation, its status, and the fix if it failed."""

    node: str
    name: str
    verdict: CheckStatus
    what: str
    fix: str = ""

    def line(self) -> str:
        """Returns the check as one line, `NODE: CHECK: WHAT; FIX`."""
        text = f"{self.node}: {self.name}: {self.what}"
        return f"{text}; {self.fix}" if self.fix else text


@dataclass(frozen=True)
class CommandResult:
    """Result of a command that an Ansible task registered; `status` is None if it did not run."""

    status: int | None
    stdout: str
    stderr: str

    @classmethod
    def of(cls, registered: Mapping[str, Any]) -> CommandResult:
        """Returns the result of a registered task, which may have been skipped or have failed."""
        status = registered.get("rc")
        stderr = registered.get("stderr") or registered.get("msg") or ""
        if stderr == _NOT_STARTED:
            stderr = f"{str(registered['cmd']).split()[0]} cannot be run there"
        return cls(status, str(registered.get("stdout", "")), str(stderr))

    @property
    def is_ok(self) -> bool:
        """Tells whether the command ran and ended with status 0."""
        return self.status == 0

    @property
    def verdict(self) -> CheckStatus:
        """Returns a check's status by the exit status: 77 means that the node lacks a program."""
        if self.is_ok:
            return CheckStatus.OK
        return CheckStatus.NOT_RUN if self.status == _NOT_HERE else CheckStatus.FAILED

    @property
    def reason(self) -> str:
        """Returns the last line of stderr, or else of stdout, cut to 400 characters."""
        lines = (self.stderr.strip() or self.stdout.strip()).splitlines()
        text = lines[-1].strip().removeprefix("vas: ") if lines else f"status {self.status}"
        return text[:_MOST_CHARS]

    def json(self) -> Any:
        """Returns stdout parsed as JSON; None if it is not JSON."""
        try:
            return json.loads(self.stdout)
        except ValueError:
            return None
