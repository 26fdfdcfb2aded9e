"""What a user may choose of a plan for threads."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from vas_affinity.score.weights import Weights
from vas_affinity.topology import Frozen


class Policy(StrEnum):
    """How CPUs are chosen."""

    SCORE = "score"
    """The lowest score that the search finds."""
    SLIDES = "slides"
    """The core affinity slides' order, one thread after another."""


class ThreadSettings(Frozen):
    """`cpus` limits where threads go (all that are online and not isolated, if empty).

    `idle_below` is the slides' "idle": a core whose CPUs' use adds up to less, 1.0 a whole CPU.
    """

    policy: Policy = Policy.SCORE
    seed: int = 0
    budget_seconds: float | None = Field(default=None, gt=0)
    cpus: tuple[int, ...] = ()
    idle_below: float = Field(default=0.2, gt=0)
    weights: Weights = Weights()
