"""A placement problem: what is placed, the CPUs, and the arrays of each term of the score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vas_affinity.machine.distance.matrix import Bools, Floats, Ints
from vas_affinity.search.score.weights import WEIGHTS, Weights


@dataclass(frozen=True, eq=False)
class Ban:
    """Pairs of threads (T x T, 1 or 0) that must not be in one group of CPUs.

    `group` (C) is each CPU's group, from 0.
    """

    pairs: Floats
    group: Ints

    def met(self, places: Ints) -> Floats:
        """Returns how many of a thread's partners are in each group (groups x T)."""
        inside = np.zeros((int(self.group.max(initial=0)) + 1, len(places)))
        inside[self.group[places], np.arange(len(places))] = 1.0
        return np.asarray(inside @ self.pairs)


@dataclass(frozen=True, eq=False, kw_only=True)
class PlacementProblem:
    """The problem of placing T threads on C CPUs; a placement is an array of T rows of `cpus`.

    A thread stands for whatever is placed as one: a thread, an interrupt, or a guest's virtual core
    with its vCPUs.

    `distance` (C x C) is symmetric; `core` (C) names each CPU's core; `communication` (T x T) is
    symmetric with a zero diagonal; `activity` (T) and `background` (C, of threads that stay) are
    CPU use, 1.0 for a whole CPU. `anchor` (T x C) is the communication with threads that stay,
    times their distance. `interrupt` and `memory` (T x C) are distances times their weight for that
    thread. `forbidden` (T x C) marks CPUs that a thread must not use; raises ValueError if a thread
    may use none. `apart` (T x T, symmetric) marks threads that must not share a core, `own` those
    that must not share a CPU. `wide` (T) marks threads that use all CPUs of their core, of which
    they are placed on one.
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
    apart: Bools | None = None
    own: Bools | None = None
    wide: Bools | None = None
    weights: Weights = WEIGHTS

    def __post_init__(self) -> None:
        if self.forbidden.all(axis=1).any():
            raise ValueError("a thread has no CPU that it may be on")

    @cached_property
    def sharing(self) -> Floats:
        """Returns what two always active threads on each two CPUs pay for sharing (C x C)."""
        siblings = self.core[:, None] == self.core[None, :]
        shared = np.where(siblings, self.weights.siblings, 0.0)
        np.fill_diagonal(shared, self.weights.same_cpu)
        return shared

    @cached_property
    def same_core(self) -> Floats:
        """Returns 1 for two CPUs of one core, else 0 (C x C)."""
        return np.asarray(self.core[:, None] == self.core[None, :], dtype=np.float64)

    @cached_property
    def bans(self) -> list[Ban]:
        """Returns what must not be shared: cores by `apart`, CPUs by `own`."""
        cores = np.unique(self.core, return_inverse=True)[1]
        given = ((self.apart, cores), (self.own, np.arange(len(self.cpus))))
        return [Ban(p.astype(np.float64), group) for p, group in given if p is not None]

    def only(self, rows: Ints) -> PlacementProblem:
        """Returns the problem of some of the threads, as if there were no others."""
        square = np.ix_(rows, rows)
        return replace(
            self,
            threads=tuple(self.threads[row] for row in rows.tolist()),
            communication=self.communication[square],
            activity=self.activity[rows],
            anchor=self.anchor[rows],
            interrupt=self.interrupt[rows],
            memory=self.memory[rows],
            forbidden=self.forbidden[rows],
            apart=None if self.apart is None else self.apart[square],
            own=None if self.own is None else self.own[square],
            wide=None if self.wide is None else self.wide[rows],
        )

    def without_bans(self, rows: Bools) -> PlacementProblem:
        """Returns the problem in which the marked threads (T) may share every core and CPU."""
        free = ~(rows[:, None] | rows[None, :])
        kept = [None if ban is None else ban & free for ban in (self.apart, self.own)]
        return replace(self, apart=kept[0], own=kept[1])

    def intruders(self, places: Ints) -> Floats:
        """Returns how many threads share each thread's core or CPU that must not (T)."""
        found = np.zeros(len(places))
        for ban in self.bans:
            group = ban.group[places]
            found += (ban.pairs * (group[:, None] == group[None, :])).sum(axis=1)
        return found

    @cached_property
    def weighted(self) -> Floats:
        """Returns the communication times its weight (T x T)."""
        return self.communication * self.weights.communication

    @cached_property
    def beside(self) -> Floats:
        """Returns what each thread pays for sharing each CPU with threads that stay (T x C)."""
        each = np.outer(self.activity, self.sharing @ self.background)
        if self.wide is None:
            return each
        mean = self.same_core / self.same_core.sum(axis=1, keepdims=True)
        return np.where(self.wide[:, None], each @ mean.T, each)

    @cached_property
    def alone(self) -> Floats:
        """Returns what each thread pays on each CPU, wherever others are (T x C).

        Infinite if forbidden.
        """
        weights = self.weights
        own = weights.communication * self.anchor + weights.interrupt * self.interrupt
        return np.where(self.forbidden, np.inf, own + weights.memory * self.memory + self.beside)

    @cached_property
    def neighbours(self) -> list[Ints]:
        """Returns, for each thread, the rows of the threads that it communicates with."""
        return [np.flatnonzero(row) for row in self.communication]
