"""A session: turns one after another on a site, each a run that is kept as soon as it ended.

What runs belongs to the site (`lab_site`); here is what makes a run count, and when to end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from pydantic import JsonValue

from vas_bench.results.record import BenchRun, Locality, Validation
from vas_bench.run.estimate import Estimates
from vas_bench.run.experiments import Experiment
from vas_bench.run.order import Turn
from vas_core.errors import VasError
from vas_core.progress import Steps

Environment = Mapping[str, JsonValue]
_MOST_FAILURES_IN_A_ROW = 3
_REASON_CHARS = 500


@dataclass(frozen=True)
class Details:
    """What is known of a run beside its measures: seconds by phase, locality by host."""

    phases: Mapping[str, float] = field(default_factory=dict)
    hosts: Mapping[str, Locality] = field(default_factory=dict)


@dataclass(frozen=True)
class OutputCheck:
    """Whether an output was right, and if it was not, why."""

    validation: Validation
    wrong: str = ""


class Site(Protocol):
    """Where experiments run. All but `environment` raise VasError when they fail."""

    def environment(self) -> Environment:
        """The machine as it is now."""

    def up(self, experiment: Experiment) -> None:
        """Makes the site that an experiment wants; nothing if it is there."""

    def prepare(self, experiment: Experiment) -> None:
        """Makes its input; nothing if it is there."""

    def drop_caches(self) -> None:
        """Empties the page cache, if that is wanted and allowed."""

    def run(self, experiment: Experiment) -> Mapping[str, float]:
        """Runs it; the measures of the run."""

    def validate(self, experiment: Experiment) -> OutputCheck:
        """Judges the output, and removes it."""

    def details(self, experiment: Experiment) -> Details:
        """What the site's history says of the run, as far as it says something."""

    def down(self) -> None:
        """Ends what `up` made."""


@dataclass(frozen=True)
class Made:
    """What came of a run."""

    measures: Mapping[str, float] = field(default_factory=dict)
    details: Details = Details()
    verdict: OutputCheck | None = None
    failure: str = ""


@dataclass(frozen=True)
class Ended:
    """How a session ended: the runs it made, and the turns that the budget left no time for."""

    made: tuple[BenchRun, ...]
    left: tuple[Turn, ...]


@dataclass(frozen=True)
class Session:
    """One session of a plan. Runs in another environment than `reference` are invalid."""

    site: Site
    reference: Environment
    name: str
    command: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def play(self, turn: Turn) -> BenchRun:
        """Runs and checks. Raises VasError where the site or the input cannot be made."""
        experiment = turn.experiment
        self.site.up(experiment)
        self.site.prepare(experiment)
        self.site.drop_caches()
        began, before = self.now(), self.site.environment()
        made = self._make(experiment)
        why = [made.failure, _wrong_output(made.verdict)]
        if made.failure:
            why.append(self._clear())
        why += [changes(self.reference, seen) for seen in (before, self.site.environment())]
        return turn.identity.run(
            id=self._id(turn, began),
            time=began,
            round=turn.round,
            warm_up=turn.warm_up,
            command=self.command,
            environment=dict(before),
            invalid="; ".join(dict.fromkeys(filter(None, why))) or None,
            measures=dict(made.measures),
            phases=dict(made.details.phases),
            hosts=dict(made.details.hosts),
            validation=made.verdict.validation if made.verdict else None,
        )

    def _make(self, experiment: Experiment) -> Made:
        made = Made()
        try:
            made = Made(self.site.run(experiment))
            verdict = self.site.validate(experiment)
            made = Made(made.measures, verdict=verdict)
            return Made(made.measures, self.site.details(experiment), verdict)
        except VasError as failed:
            reason = " ".join(f"it failed: {failed}".split())[:_REASON_CHARS]
            return Made(made.measures, made.details, made.verdict, reason)

    def _clear(self) -> str:
        """Ends the site: what a run left behind must not be the next one's. Why that failed."""
        try:
            self.site.down()
        except VasError as failed:
            return f"and its site does not end: {failed}"
        return ""

    def _id(self, turn: Turn, began: datetime) -> str:
        kind = "w" if turn.warm_up else "r"
        return f"{self.name}-{turn.identity.hash[:12]}-{kind}{turn.round}-{began:%Y%m%dT%H%M%S.%fZ}"


def _wrong_output(verdict: OutputCheck | None) -> str:
    if verdict is None or verdict.validation.ok:
        return ""
    return f"its output is wrong: {verdict.wrong}"


def changes(before: Environment, after: Environment) -> str:
    """What differs between two looks at a machine, in words; empty if nothing does."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    found = (f"{name} was {before.get(name)} and is {after.get(name)}" for name in names)
    return f"the environment changed: {', '.join(found)}" if names else ""


def play_all(
    session: Session,
    turns: Sequence[Turn],
    keep: Callable[[BenchRun], None],
    *,
    progress: Steps,
    budget_seconds: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Ended:
    """Plays turns in order, until all are done or the next would not end within the budget.

    Raises VasError when several runs fail in a row: then it is the site, not the systems.
    """
    estimates, started = Estimates(turns), clock()
    made: list[BenchRun] = []
    failures = 0
    for number, turn in enumerate(turns):
        began = clock()
        would_end = began - started + estimates.of(turn)
        if budget_seconds is not None and would_end > budget_seconds:
            return Ended(tuple(made), tuple(turns[number:]))
        with progress.step(turn.title):
            run = session.play(turn)
            keep(run)
        made.append(run)
        estimates.took(turn, clock() - began)
        progress.expect({later.title: estimates.of(later) for later in turns[number + 1 :]})
        if run.invalid:
            progress.say(f"INVALID: {turn.title}: {run.invalid}")
        failures = failures + 1 if run.invalid else 0
        if failures == _MOST_FAILURES_IN_A_ROW:
            raise VasError(
                f"{failures} runs in a row are INVALID, the last: {run.invalid}",
                hint="mend that, then go on by --resume",
            )
    return Ended(tuple(made), ())
