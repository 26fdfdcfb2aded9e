"""What a lab and a site have in common: where turns are played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from vas_bench.engine.play import Progress
from vas_bench.engine.resume import Environment
from vas_bench.interference.fio import Clients
from vas_bench.interference.patterns import ArmName
from vas_bench.interference.scope import Scope
from vas_bench.results.systems import System
from vas_core.progress import Step, Steps


@dataclass(frozen=True, kw_only=True)
class InterferenceRequest:
    """What a session was asked for: seconds for each pattern, the TeraSort, the clients' files."""

    seconds: int
    size: int
    system: System
    files: int | None = None


class Stage(Protocol):
    """A venue that is ready. All raise VasError when they fail."""

    @property
    def clients(self) -> Clients:
        """What fio is to work on."""

    def begin(self, arm: ArmName) -> None:
        """Everybody is where the arm has them, page caches are empty as far as they may be."""

    def fio(self, arm: ArmName, argv: Sequence[str], timeout_seconds: float) -> str:
        """What fio printed, run as the service's clients are."""

    def beside(self, arm: ArmName) -> AbstractContextManager[list[float]]:
        """The arm's analytics, at work as long as the body; each job's seconds are there after."""


class Target(Protocol):
    """A lab to be started, or a site that is there."""

    @property
    def request(self) -> InterferenceRequest:
        """The options that the user gave."""

    @property
    def scope(self) -> Scope:
        """Its arms, and what they show."""

    def environment(self) -> Environment:
        """Returns the machine as it is now."""

    def settings(self) -> dict[str, JsonValue]:
        """What turns must have in common beside the options."""

    def words(self) -> str:
        """In a line, for people."""

    def facts(self) -> Mapping[str, object]:
        """The same for JSON."""

    def steps(self) -> Sequence[Step]:
        """What comes before the first turn."""

    def check(self) -> None:
        """Raises BadInput, NotHere or VasError where no session can be."""

    def progress(self, steps: Sequence[Step]) -> AbstractContextManager[Steps]:
        """Progress with the times that sessions here have learned."""

    def opened(self, progress: Progress) -> AbstractContextManager[Stage]:
        """The stage, for the body; nothing that was made for it is left."""
