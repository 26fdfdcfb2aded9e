"""Turns of a search on a site: what a file of results has already is not run again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from vas_bench.results.record import BenchRun
from vas_bench.run.estimate import Estimates
from vas_bench.run.experiments import Identity
from vas_bench.run.order import Turn
from vas_bench.run.session import Session
from vas_core.errors import VasError
from vas_core.progress import Steps


class OutOfTime(VasError):
    """The budget ends before the next run would."""


_AGAIN = "mend that, then go on by --resume"
Key = tuple[str, int, bool]
Show = Callable[[Sequence[Turn]], AbstractContextManager[Steps]]


@dataclass
class Trials:
    """Plays turns, and keeps each run as soon as it ended.

    `done` are valid runs of before, by their turns' keys. `show` is the progress of some turns.
    """

    session: Session
    keep: Callable[[BenchRun], None]
    show: Show
    done: Mapping[Key, BenchRun] = field(default_factory=dict)
    budget_seconds: float | None = None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._started = self.clock()

    def play(self, turns: Sequence[Turn], *, needed: Identity) -> dict[Key, BenchRun]:
        """The runs that count, by their turns' keys.

        After a run that is INVALID the others of its experiment are left out: what fails once is
        not recommended. Raises VasError where that is the needed one; OutOfTime.
        """
        found: dict[Key, BenchRun] = {}
        failed: set[str] = set()
        todo = [turn for turn in turns if turn.key not in self.done]
        estimates = Estimates(todo)
        with self.show(todo) as progress:
            for turn in turns:
                if turn.identity.hash in failed:
                    continue
                run = self.done.get(turn.key) or self._made(turn, progress, estimates)
                if run.invalid is None:
                    found[turn.key] = run
                elif turn.identity == needed:
                    raise VasError(f"the baseline failed: {run.invalid}", hint=_AGAIN)
                else:
                    failed.add(turn.identity.hash)
        return found

    def _made(self, turn: Turn, progress: Steps, estimates: Estimates) -> BenchRun:
        began = self.clock()
        would_end = began - self._started + estimates.of(turn)
        if self.budget_seconds is not None and would_end > self.budget_seconds:
            raise OutOfTime("the budget has ended before the search", hint="go on by --resume")
        with progress.step(turn.title):
            run = self.session.play(turn)
            self.keep(run)
        estimates.took(turn, self.clock() - began)
        if run.invalid:
            progress.say(f"INVALID: {turn.title}: {run.invalid}")
        return run
