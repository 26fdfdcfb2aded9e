"""What `plan`, `apply`, `verify` and `rollback` speak of in every room that changes a host."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """One value that differs from the wished one. None means absent."""

    target: str
    before: str | None
    after: str | None
    reason: str


@dataclass(frozen=True)
class Plan:
    """The changes that make a host what was wished; empty when nothing is to do."""

    changes: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.changes)
