"""The settings of a plan for threads."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from vas_affinity.machine.topology import Frozen
from vas_affinity.search.score.weights import Weights


class Policy(StrEnum):
    """The way in which CPUs are chosen."""

    SCORE = "score"
    """The lowest score that the search finds."""
    SLIDES = "slides"
    """The order of the core affinity slides, one thread after another."""
    RULE = "rule"
    """Guests by the rule from which the search starts, without a search."""


class ThreadPlanSettings(Frozen):
    """The choices of a user for a plan of threads.

    `cpus` limits the CPUs of threads; empty for all that are online and not isolated. `idle_below`
    is the slides' "idle": a core whose CPUs' use adds up to less; 1.0 is a whole CPU.
    """

    policy: Policy = Policy.SCORE
    seed: int = 0
    budget_seconds: float | None = Field(default=None, gt=0)
    cpus: tuple[int, ...] = ()
    idle_below: float = Field(default=0.2, gt=0)
    weights: Weights = Weights()
