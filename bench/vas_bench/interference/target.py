"""The target of a session: a lab or a site, where rounds are played."""

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
from vas_core.progress import Step, Steps
from vas_yarn.jobs.systems import System


@dataclass(frozen=True, kw_only=True)
class InterferenceRequest:
    """The options of a session: seconds for each pattern, the TeraSort, the clients' files."""

    seconds: int
    size: int
    system: System
    files: int | None = None


class TargetStage(Protocol):
    """A target that is ready. All methods raise VasError when they fail."""

    @property
    def clients(self) -> Clients:
        """The files that fio works on."""

    def begin(self, arm: ArmName) -> None:
        """Moves the processes to where the arm has them; empties the page caches that may be."""

    def fio(self, arm: ArmName, argv: Sequence[str], timeout_seconds: float) -> str:
        """Returns what fio printed, run as the service's clients are."""

    def beside(self, arm: ArmName) -> AbstractContextManager[list[float]]:
        """Runs the arm's analytics during the body; the list then has each job's seconds."""


class InterferenceTarget(Protocol):
    """A lab to be started, or a site that is there."""

    @property
    def request(self) -> InterferenceRequest:
        """The options that the user gave."""

    @property
    def scope(self) -> Scope:
        """The arms of this target, and what they show."""

    def environment(self) -> Environment:
        """Returns the machine as it is now."""

    def settings(self) -> dict[str, JsonValue]:
        """Returns the settings that rounds must have in common besides the options."""

    def words(self) -> str:
        """Returns the target and its sizes in one line for people."""

    def facts(self) -> Mapping[str, object]:
        """Returns the target's facts for JSON."""

    def steps(self) -> Sequence[Step]:
        """Returns the steps before the first round."""

    def check(self) -> None:
        """Raises BadInput, NotHere or VasError where no session can be."""

    def progress(self, steps: Sequence[Step]) -> AbstractContextManager[Steps]:
        """Returns a display of progress, with the times that earlier sessions took here."""

    def opened(self, progress: Progress) -> AbstractContextManager[TargetStage]:
        """Makes the stage for the body, and removes afterwards everything that was made for it."""
