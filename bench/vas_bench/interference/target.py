"""The target of a session: a lab or a site, where rounds are played."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import JsonValue

from vas_bench.engine.play import Progress
from vas_bench.engine.resume import Environment
from vas_bench.interference.fio import PROGRAM, Clients, writing_files
from vas_bench.interference.load import in_a_loop
from vas_bench.interference.scope import ALONE, ArmName, Scope
from vas_bench.results.environment import environment
from vas_core.errors import NotHere
from vas_core.progress import Step, Steps
from vas_core.root import Root
from vas_yarn.jobs.place import JobPlace
from vas_yarn.jobs.systems import Arm, System
from vas_yarn.jobs.terasort import TeraSort
from vas_yarn.jobs.trees import inside

PREPARE = "make the job's input and the clients' files"
"""The step before the first round of every target."""
# Beyond what a measurement is to take: fio's start, and its files' opening.
_SPARE_SECONDS = 120.0
# A client that is slower than this is as good as hung.
_SLOWEST_BYTES_PER_SECOND = 4 << 20


@dataclass(frozen=True, kw_only=True)
class InterferenceRequest:
    """The options of a session: seconds for each pattern, the TeraSort, the clients' files."""

    seconds: int
    size: int
    system: System
    files: int | None = None


@dataclass(frozen=True, kw_only=True)
class TargetStage(ABC):
    """A target that is ready: its job, and the clients' files. All methods raise VasError.

    `directory` is ours, as jobs at the place write it; `system` is the arm that the job runs as;
    `give_up` ends the job after something next to it has failed.
    """

    place: JobPlace
    directory: str
    files_bytes: int
    job: TeraSort
    system: Arm
    give_up: Callable[[], None]
    direct: ClassVar[bool] = False

    @property
    def clients(self) -> Clients:
        """The files that fio works on, past the client's page cache where `direct` is set."""
        there = inside(self.place, f"{self.directory}/clients")
        return Clients(str(there), self.files_bytes, direct=self.direct)

    def prepare(self) -> None:
        """Makes the job's input and the clients' files."""
        self.job.generate()
        self.place.call(["mkdir", "-p", self.clients.directory])
        self.run_fio(ALONE, writing_files(self.clients))

    def run_fio(self, arm: ArmName, argv: Sequence[str], seconds: float = 0) -> str:
        """Runs fio, which measures for `seconds`, and returns what it printed.

        Its time limit allows for the slowest disk.
        """
        whole = self.files_bytes / _SLOWEST_BYTES_PER_SECOND
        return self.fio(arm, argv, seconds + whole + _SPARE_SECONDS)

    @abstractmethod
    def begin(self, arm: ArmName) -> None:
        """Moves processes into the arm's cgroup; empties the page caches that may be emptied."""

    @abstractmethod
    def fio(self, arm: ArmName, argv: Sequence[str], timeout_seconds: float) -> str:
        """Runs fio as a client of the service does, and returns what it printed."""

    def beside(self, arm: ArmName) -> AbstractContextManager[list[float]]:
        """Runs TeraSort in YARN during the body; the list then has each job's seconds.

        Nothing runs where the clients are alone.
        """
        if arm == ALONE:
            return nullcontext([])
        return in_a_loop(self.job, self.system, self.give_up)


@dataclass(frozen=True)
class InterferenceTarget(ABC):
    """A lab to be started, or a site that is there."""

    request: InterferenceRequest
    root: Root

    @property
    @abstractmethod
    def scope(self) -> Scope:
        """The arms of this target, and what they show."""

    @property
    @abstractmethod
    def state(self) -> Path:
        """The directory of this machine where the target keeps what it has learned."""

    def environment(self) -> Environment:
        """Returns the machine as it is now."""
        return environment(self.root)

    @abstractmethod
    def settings(self) -> dict[str, JsonValue]:
        """Returns the settings that rounds must have in common besides the options."""

    @abstractmethod
    def words(self) -> str:
        """Returns the target and its sizes in one line for people."""

    @abstractmethod
    def facts(self) -> Mapping[str, object]:
        """Returns the target's facts for JSON."""

    def steps(self) -> Sequence[Step]:
        """Returns the steps before the first round, with their seconds on two quiet cores."""
        return [Step(PREPARE, 15 + 25 * self.request.size / (1 << 30))]

    def check(self) -> None:
        """Raises BadInput, NotHere or VasError where no session can be."""
        if shutil.which(PROGRAM) is None:
            raise NotHere("fio is not installed", hint="run `vas doctor` for the package")

    def progress(self, steps: Sequence[Step]) -> AbstractContextManager[Steps]:
        """Returns a display of progress, with the times that earlier sessions took here."""
        return Steps.show(steps, self.state / "interference-seconds.json")

    @abstractmethod
    def opened(self, progress: Progress) -> AbstractContextManager[TargetStage]:
        """Makes the stage for the body, and removes afterwards everything that was made for it."""
