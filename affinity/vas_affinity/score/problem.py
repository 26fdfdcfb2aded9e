"""A placement problem: threads, CPUs, and what each term needs to know of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vas_affinity.distance.matrix import Bools, Floats, Ints
from vas_affinity.score.weights import WEIGHTS, Weights


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """T threads and C CPUs; a placement is an array of T rows of `cpus`.

    `distance` (C x C) is symmetric; `core` (C) names each CPU's core; `communication` (T x T) is
    symmetric with a zero diagonal; `activity` (T) and `background` (C, of threads that stay) are
    CPU use, 1.0 a whole CPU. `anchor` (T x C) is the communication with threads that stay times
    their distance, `interrupt` and `memory` (T x C) are distances times what they count for that
    thread. Where it may not be is `forbidden` (T x C); each thread has a CPU that it may be on.
    """

    threads: tuple[str, ...]
    cpus: tuple[int, ...]
    distance: Floats
    core: Ints
    communication: Floats
    activity: Floats
    background: Floats
    anchor: Floats
    interrupt: Floats
    memory: Floats
    forbidden: Bools
    weights: Weights = WEIGHTS

    def __post_init__(self) -> None:
        if self.forbidden.all(axis=1).any():
            raise ValueError("a thread has no CPU that it may be on")

    @cached_property
    def sharing(self) -> Floats:
        """C x C: what two always active threads pay for being on these two CPUs."""
        siblings = self.core[:, None] == self.core[None, :]
        shared = np.where(siblings, self.weights.siblings, 0.0)
        np.fill_diagonal(shared, self.weights.same_cpu)
        return shared

    @cached_property
    def weighted(self) -> Floats:
        """T x T: the communication, times its weight."""
        return self.communication * self.weights.communication

    @cached_property
    def beside(self) -> Floats:
        """T x C: sharing with what is not placed."""
        return np.outer(self.activity, self.sharing @ self.background)

    @cached_property
    def alone(self) -> Floats:
        """T x C: what a thread pays for a CPU wherever others are; infinite if forbidden."""
        weights = self.weights
        own = weights.communication * self.anchor + weights.interrupt * self.interrupt
        return np.where(self.forbidden, np.inf, own + weights.memory * self.memory + self.beside)

    @cached_property
    def neighbours(self) -> list[Ints]:
        """Whom each thread communicates with."""
        return [np.flatnonzero(row) for row in self.communication]
