"""Plays rounds one after another: estimates, budget, INVALID runs, and when to stop."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, NamedTuple, Protocol

from vas_bench.engine.rounds import Round, S
from vas_bench.results.record import BenchRun
from vas_core.cli import note
from vas_core.errors import VasError
from vas_core.progress import Step, Steps
from vas_core.shown import counted

AGAIN = "mend that, then go on by --resume"
_MOST_FAILURES_IN_A_ROW = 3


class Expected(NamedTuple):
    """Seconds of what comes before a run, such as a lab's start, and of the run with its check.

    They are a guess, until the same subject has run here.
    """

    before: float
    run: float


class Estimates(Generic[S]):
    """The seconds of each round: as guessed, or as runs of its subject took."""

    def __init__(self, rounds: Iterable[Round[S]], guessed: Iterable[Expected]) -> None:
        self._expected = dict(zip((each.key for each in rounds), guessed, strict=True))
        self._took: dict[str, float] = {}

    def of(self, round_: Round[S]) -> float:
        """Returns the seconds that a round will take."""
        before, run = self._expected[round_.key]
        return before + self._took.get(round_.identity.hash, run)

    def took(self, round_: Round[S], seconds: float) -> None:
        """Remembers how long a round took, for later rounds of its subject.

        The seconds that were guessed for what comes before the run (a lab's start) are subtracted.
        """
        before, _ = self._expected[round_.key]
        self._took[round_.identity.hash] = max(0.0, seconds - before)

    def steps(self, rounds: Sequence[Round[S]]) -> list[Step]:
        """Returns the rounds as steps of a progress display."""
        return [Step(each.title, self.of(each)) for each in rounds]


@dataclass(frozen=True)
class Played(Generic[S]):
    """The end of a session: the runs made, and the rounds that the budget left no time for."""

    made: tuple[BenchRun, ...]
    left: tuple[Round[S], ...]


@dataclass
class Budget:
    """The time for a session, from now on: `seconds`, or without a limit if that is None."""

    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._started = self.clock()

    def allows(self, seconds: float) -> bool:
        """Tells whether something that takes so many seconds ends within the budget."""
        return self.seconds is None or self.clock() - self._started + seconds <= self.seconds


class Progress(Protocol):
    """A display of what runs now; `vas_core.progress.Steps` is one."""

    def step(self, name: str, /) -> AbstractContextManager[None]:
        """Shows a step as long as the body runs."""

    def expect(self, seconds: Mapping[str, float], /) -> None:
        """Takes new estimates for later steps."""

    def say(self, text: str, /) -> None:
        """Prints a line above the progress."""


@dataclass(frozen=True)
class Quiet:
    """Progress that shows no steps, within a step that is shown."""

    say: Callable[[str], None]

    def step(self, _: str, /) -> AbstractContextManager[None]:
        """Returns a context that shows nothing."""
        return nullcontext()

    def expect(self, _: Mapping[str, float], /) -> None:
        """Ignores estimates: nothing is shown."""


class StopRule(ABC, Generic[S]):
    """Decides after each run whether, and with what, a session goes on."""

    def skips(self, round_: Round[S]) -> bool:
        """Tells whether a round is left out because of what was seen; by default none is."""
        return False

    @abstractmethod
    def saw(self, round_: Round[S], run: BenchRun) -> None:
        """Takes note of a run. Raises VasError when the session has to stop."""


@dataclass
class FailuresInARow(StopRule[S]):
    """Stops after several INVALID runs in a row: then it is the site, not the systems."""

    _failures: int = field(default=0, init=False)

    def saw(self, round_: Round[S], run: BenchRun) -> None:
        """Counts INVALID runs. Raises VasError at the third in a row."""
        self._failures = self._failures + 1 if run.invalid else 0
        if self._failures == _MOST_FAILURES_IN_A_ROW:
            what = f"{self._failures} runs in a row are INVALID, the last: {run.invalid}"
            raise VasError(what, hint=AGAIN)


def play_all(
    play: Callable[[Round[S]], BenchRun],
    rounds: Sequence[Round[S]],
    keep: Callable[[BenchRun], None],
    *,
    progress: Progress,
    estimates: Estimates[S],
    budget: Budget | None = None,
    stop: StopRule[S] | None = None,
) -> Played[S]:
    """Plays rounds in order, until all are done or the next would not end within the budget.

    Each run is kept as soon as it ended. Raises VasError when the stop rule says so: by
    default, when several runs fail in a row. Errors of `play` and `keep` are passed on.
    """
    budget, stop = budget or Budget(), stop or FailuresInARow()
    made: list[BenchRun] = []
    for number, each in enumerate(rounds):
        if stop.skips(each):
            continue
        if not budget.allows(estimates.of(each)):
            return Played(tuple(made), tuple(rounds[number:]))
        began = budget.clock()
        with progress.step(each.title):
            run = play(each)
            keep(run)
        made.append(run)
        estimates.took(each, budget.clock() - began)
        progress.expect({later.title: estimates.of(later) for later in rounds[number + 1 :]})
        if run.invalid:
            progress.say(f"INVALID: {each.title}: {run.invalid}")
        stop.saw(each, run)
    return Played(tuple(made), ())


def play_shown(
    play: Callable[[Round[S]], BenchRun],
    rounds: Sequence[Round[S]],
    keep: Callable[[BenchRun], None],
    *,
    learned: Path,
    estimates: Estimates[S],
    budget: Budget,
    stop: StopRule[S] | None = None,
) -> Played[S]:
    """Plays rounds as `play_all`, with progress; the file `learned` keeps how long they took."""
    with Steps.show(estimates.steps(rounds), learned) as progress:
        return play_all(
            play, rounds, keep, progress=progress, estimates=estimates, budget=budget, stop=stop
        )


def refuse_invalid(runs: Sequence[BenchRun]) -> None:
    """Raises VasError where any run is INVALID, with the first reason, and where none was made."""
    if not runs:
        raise VasError("no run was made", hint="give a larger --budget")
    invalid = [run for run in runs if run.invalid]
    if invalid:
        are = "is" if len(invalid) == 1 else "are"
        raise VasError(
            f"{counted(len(invalid), 'run')} {are} INVALID",
            where=invalid[0].id,
            hint=invalid[0].invalid,
        )


def note_left(left: Sequence[object]) -> None:
    """Prints how many rounds the budget left; prints nothing if it left none."""
    if left:
        note(f"the budget ended with {counted(len(left), 'run')} left: go on by --resume")
