"""One thing that was looked at on a site, and what a command there said of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_NOT_HERE = 77
# What Ansible says where there is no such program.
_NOT_STARTED = "Error executing command."
_MOST_CHARS = 400


class Verdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Check:
    """A check of a node: what was seen there, and where it is not ok, how to mend it."""

    node: str
    name: str
    verdict: Verdict
    what: str
    fix: str = ""

    def line(self) -> str:
        """`NODE: CHECK: WHAT; FIX`."""
        text = f"{self.node}: {self.name}: {self.what}"
        return f"{text}; {self.fix}" if self.fix else text


@dataclass(frozen=True)
class Said:
    """What a task of Ansible's registered of a command. `status` is None where it did not run."""

    status: int | None
    stdout: str
    stderr: str

    @classmethod
    def of(cls, registered: Mapping[str, Any]) -> Said:
        """Of a task that is there, skipped or failed in itself."""
        status = registered.get("rc")
        stderr = registered.get("stderr") or registered.get("msg") or ""
        if stderr == _NOT_STARTED:
            stderr = f"{str(registered['cmd']).split()[0]} cannot be run there"
        return cls(status, str(registered.get("stdout", "")), str(stderr))

    @property
    def is_ok(self) -> bool:
        """Whether it ran, and found nothing."""
        return self.status == 0

    @property
    def verdict(self) -> Verdict:
        """By its status alone: 77 says that the node lacks a program."""
        if self.is_ok:
            return Verdict.OK
        return Verdict.NOT_RUN if self.status == _NOT_HERE else Verdict.FAILED

    @property
    def reason(self) -> str:
        """What it said last, in one line."""
        lines = (self.stderr.strip() or self.stdout.strip()).splitlines()
        text = lines[-1].strip().removeprefix("vas: ") if lines else f"status {self.status}"
        return text[:_MOST_CHARS]

    def json(self) -> Any:
        """Its JSON; None where it printed none."""
        try:
            return json.loads(self.stdout)
        except ValueError:
            return None
