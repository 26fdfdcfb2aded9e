"""Plays rounds of a plan on its site: a lab, or one that is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from vas_bench.engine.observe import Observation, Observer, failure
from vas_bench.engine.resume import Environment
from vas_bench.engine.rounds import Round
from vas_bench.results.record import BenchRun, CurvePoints, HostLocality, Validation
from vas_bench.run.experiments import Experiment
from vas_core.errors import VasError


@dataclass(frozen=True)
class Details:
    """Facts of a run besides its measures: seconds by phase, locality by host, what grew when."""

    phases: Mapping[str, float] = field(default_factory=dict)
    hosts: Mapping[str, HostLocality] = field(default_factory=dict)
    curves: Mapping[str, CurvePoints] = field(default_factory=dict)


@dataclass(frozen=True)
class OutputCheck:
    """The result of checking an output: right or not, and why not."""

    validation: Validation
    wrong: str = ""


class RunSite(Protocol):
    """A site where experiments run. All but `environment` raise VasError when they fail."""

    def environment(self) -> Environment:
        """Returns facts about the machine as it is now."""

    def up(self, experiment: Experiment) -> None:
        """Makes the site that an experiment needs, unless it is there."""

    def prepare(self, experiment: Experiment) -> None:
        """Makes the input of an experiment, unless it is there."""

    def drop_caches(self) -> None:
        """Empties the page cache, if that is wanted and allowed."""

    def run(self, experiment: Experiment) -> Mapping[str, float]:
        """Runs the job and returns the measures of the run."""

    def validate(self, experiment: Experiment) -> OutputCheck:
        """Judges the output, and removes it."""

    def details(self, experiment: Experiment) -> Details:
        """Returns what the site's history says of the run; empty where it says nothing."""

    def down(self) -> None:
        """Ends the site that `up` made."""


@dataclass(frozen=True)
class Session:
    """One session of a plan: its site, and what its runs have in common."""

    site: RunSite
    observer: Observer

    def play(self, round_: Round[Experiment]) -> BenchRun:
        """Runs an experiment and checks its output.

        Raises VasError where the site or the input cannot be made.
        """
        it = round_.experiment
        self.site.up(it)
        self.site.prepare(it)
        self.site.drop_caches()
        return self.observer.observe(round_, lambda: self._observed(it))

    def _observed(self, experiment: Experiment) -> Observation:
        seen = Observation()
        try:
            seen = Observation(self.site.run(experiment))
            check = self.site.validate(experiment)
            wrong = "" if check.validation.ok else f"its output is wrong: {check.wrong}"
            seen = replace(seen, validation=check.validation, wrong=wrong)
            details = self.site.details(experiment)
            return replace(seen, **vars(details))
        except VasError as failed:
            why = (failure(failed), seen.wrong, self._clear())
            return replace(seen, wrong="; ".join(filter(None, why)))

    def _clear(self) -> str:
        """Ends the site, so that the next run meets nothing of a failed one's; why that failed."""
        try:
            self.site.down()
        except VasError as failed:
            return f"and its site does not end: {failed}"
        return ""
