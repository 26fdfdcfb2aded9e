"""A site that a whole plan can run on: a lab, or one that is there already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from vas_bench.engine.rounds import RunIdentity
from vas_bench.run.experiments import Experiment
from vas_bench.run.plan import BenchPlan
from vas_bench.run.session import RunSite


class PlannedSite(RunSite, Protocol):
    """A `RunSite` on which all experiments of one plan run."""

    @property
    def plan(self) -> BenchPlan:
        """The plan, with what the site decides."""

    @property
    def learned(self) -> Path:
        """The file that keeps how long runs take here."""

    def check(self, experiments: Sequence[Experiment]) -> None:
        """Raises VasError for what cannot run here."""

    def identify(self, experiment: Experiment) -> RunIdentity[Experiment]:
        """Returns an experiment with its configuration and versions."""
