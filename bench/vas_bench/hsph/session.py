"""Two runs, with nothing changed between them: both are kept, or there is no result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from vas_bench.hsph.metric import PHASES
from vas_bench.hsph.phases import Timed, Work, play_once
from vas_bench.hsph.record import CHECK, recorded, session_id
from vas_bench.results.record import BenchRun, Validation
from vas_bench.run.experiments import Identity
from vas_bench.run.session import Environment, changes
from vas_core.errors import VasError

RUNS = (1, 2)
Around = Callable[[str], AbstractContextManager[None]]


class CheckedWork(Work, Protocol):
    """Work that says what came of it."""

    @property
    def checksum(self) -> str:
        """That of the validated rows."""

    @property
    def cpu_seconds(self) -> float:
        """Of all three jobs; 0 where it is not known."""


@dataclass(frozen=True)
class Session:
    """What two runs have in common."""

    identity: Identity
    scale_factor: float
    command: str
    environment: Callable[[], Environment]
    joules: Callable[[], float | None] = lambda: None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock: Callable[[], float] = time.monotonic

    def play(self, work: CheckedWork, around: Around) -> tuple[BenchRun, BenchRun]:
        """Both runs. Raises VasError when a phase fails, or anything changed meanwhile."""
        began, here = f"{self.now():%Y%m%dT%H%M%S.%fZ}", self.environment()
        first, second = (self._once(work, around, began, number, here) for number in RUNS)
        if first.validation != second.validation:
            raise VasError("the runs sorted different rows: there is no result", where=first.id)
        return first, second

    def _once(
        self, work: CheckedWork, around: Around, began: str, number: int, here: Environment
    ) -> BenchRun:
        started = self.now()
        timed = self._timed(work, around, number)
        changed = changes(here, self.environment())
        if changed:
            raise VasError(f"{changed}: there is no result", hint="run both again")
        return recorded(
            self.identity,
            self.scale_factor,
            timed,
            id=session_id(began, number),
            time=started,
            round=number,
            command=self.command,
            environment=dict(here),
            measures={"cpu_seconds": work.cpu_seconds} if work.cpu_seconds else {},
            validation=Validation(ok=True, check=CHECK, checksum=work.checksum),
        )

    def _timed(self, work: CheckedWork, around: Around, number: int) -> Timed:
        try:
            return play_once(
                work,
                lambda phase: around(step_name(number, phase)),
                joules=self.joules,
                clock=self.clock,
            )
        except VasError as failed:
            what = f"run {number} failed, so there is no result: {failed.what}"
            raise VasError(what, where=failed.where, hint=failed.hint) from failed


def step_name(number: int, phase: str) -> str:
    """A phase of one of the runs, as progress names it."""
    return f"run {number}: {phase}"


def step_names() -> list[str]:
    """All of them in order."""
    return [step_name(number, phase) for number in RUNS for phase in PHASES]


_GIB = 1 << 30
# Of a phase on two quiet cores: a part that it takes anyway, and one for each GiB. First guesses:
# progress learns what phases take here.
_SECONDS: Mapping[str, tuple[float, float]] = {
    "generate": (10, 25),
    "check input": (1, 0),
    "sort": (20, 45),
    "check output": (1, 0),
    "validate": (10, 15),
}


def expected_seconds(phase: str, size_bytes: int) -> float:
    """A phase's seconds, before anything is known of this machine."""
    least, per_gib = _SECONDS[phase]
    return least + per_gib * size_bytes / _GIB
