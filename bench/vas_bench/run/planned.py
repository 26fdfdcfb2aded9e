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
    """A `Site` that knows its plan."""

    @property
    def plan(self) -> BenchPlan:
        """The plan, with what the site decides."""

    @property
    def learned(self) -> Path:
        """Where it is kept how long runs take here."""

    def check(self, experiments: Sequence[Experiment]) -> None:
        """Raises VasError for what cannot run here."""

    def identify(self, experiment: Experiment) -> RunIdentity[Experiment]:
        """An experiment with its configuration and versions."""
