"""A placement during the search, with the change of score of every possible move."""

from __future__ import annotations

import numpy as np

from vas_affinity.machine.distance.matrix import Floats, Ints
from vas_affinity.search.score.problem import PlacementProblem

INTRUDER = 1e6  # above any score: no nearness pays for a core shared by two that must not


class Assignment:
    """The CPU of each thread (`places`, T), and the costs that tell what a move would change.

    All targets of a thread are evaluated at once: `cost[t, c]` is what thread t pays on CPU c (its
    own terms and its communication), `pressure[c]` what a whole CPU's use pays for sharing c, and
    `met[b][g, t]` how many that t must not meet by ban b are in group g, each a very high cost. A
    move changes the rows of the thread's neighbours and the pressure and bans of two cores.
    `what_ifs` counts the moves that were evaluated.
    """

    def __init__(self, problem: PlacementProblem, places: Ints) -> None:
        self.problem = problem
        self.places = places.copy()
        self.what_ifs = 0
        self.cost: Floats = problem.alone + problem.weighted @ problem.distance[places]
        use = np.bincount(places, problem.activity, minlength=len(problem.cpus))
        self.pressure: Floats = problem.sharing @ use
        self.met = [ban.met(places) for ban in problem.bans]
        self._diagonal = np.diagonal(problem.distance).copy()
        self._alone_here = problem.weights.same_cpu - problem.sharing
        self._twice = 2 * problem.distance - self._diagonal[:, None] - self._diagonal[None, :]
        self._rows = np.arange(len(places))
        self._row_starts = np.arange(len(places)) * len(problem.cpus)
        self._cheaper, self._parted = 0.0, 0.0

    @property
    def gained(self) -> float:
        """Returns how much the score fell since the start, with a very high value of each pair
        that must be apart and was parted."""
        return self._cheaper + INTRUDER * self._parted

    def moves(self, thread: int) -> Floats:
        """Returns the change of score of moving a thread to each CPU (C)."""
        problem, here = self.problem, self.places[thread]
        active = problem.activity[thread]
        own = self.pressure - active * problem.sharing[here]
        own *= active
        own += self.cost[thread]
        for ban, met in zip(problem.bans, self.met, strict=True):
            own += INTRUDER * met[:, thread][ban.group]
        own -= own[here]
        self.what_ifs += len(own)
        return np.asarray(own)

    def attracted(self, cpu: int, most: int) -> Ints:
        """Returns the threads that gain by moving to a CPU, those that gain most first."""
        problem, places, active = self.problem, self.places, self.problem.activity
        change = self.cost[:, cpu] - self.cost.ravel()[self._row_starts + places]
        shared = problem.sharing[places, cpu] - problem.weights.same_cpu
        change += active * (self.pressure[cpu] - self.pressure[places] - active * shared)
        for ban, met in zip(problem.bans, self.met, strict=True):
            more = met[ban.group[cpu]] - met[ban.group[places], self._rows]
            change += INTRUDER * more
        self.what_ifs += len(change)
        gainers = np.flatnonzero(change < 0)
        return gainers[np.argsort(change[gainers], kind="stable")[:most]]

    def swaps(self, thread: int) -> Floats:
        """Returns the change of score of swapping a thread with each other one (T)."""
        problem, places, here = self.problem, self.places, self.places[thread]
        there = self.cost[thread][places] - self.cost[thread, here]
        back = self.cost[:, here] - self.cost.ravel()[self._row_starts + places]
        change = there + back + problem.weighted[thread] * self._twice[here][places]
        more = problem.activity[thread] - problem.activity
        pressure = self.pressure[places] - self.pressure[here]
        change += more * (pressure + more * self._alone_here[here][places])
        for ban, met in zip(problem.bans, self.met, strict=True):
            group = ban.group[places]
            more = met[:, thread][group] - met[group[thread], thread]
            more += met[group[thread]] - met[group, self._rows]
            more -= 2 * ban.pairs[thread] * (group != group[thread])
            change += INTRUDER * more
        self.what_ifs += len(change)
        return np.asarray(change)

    def restless(self, least_gain: float) -> Ints:
        """Returns the threads for which a move or a swap gains at least `least_gain`."""
        problem, places, active = self.problem, self.places, self.problem.activity
        paid = self.cost
        for ban, met in zip(problem.bans, self.met, strict=True):
            paid = paid + INTRUDER * met.T[:, ban.group]
        moves = self.pressure - active[:, None] * problem.sharing[places]
        moves *= active[:, None]
        moves += paid
        best = moves.min(axis=1) - moves[np.arange(len(places)), places]
        there = paid[:, places]
        there -= np.diagonal(there)[:, None].copy()
        swaps = problem.weighted * self._twice[np.ix_(places, places)]
        swaps += there
        swaps += there.T
        more = active[:, None] - active
        pressure = self.pressure[places]
        alone = more * self._alone_here[np.ix_(places, places)]
        swaps += more * (pressure - pressure[:, None] + alone)
        for ban in problem.bans:
            group = ban.group[places]
            swaps -= 2 * INTRUDER * ban.pairs * (group[:, None] != group[None, :])
        self.what_ifs += moves.size + swaps.size
        return np.flatnonzero(np.minimum(best, swaps.min(axis=1)) < -least_gain)

    def move(self, thread: int, cpu: int) -> None:
        """Moves a thread to the CPU of that row."""
        problem, here = self.problem, self.places[thread]
        self._cheaper -= self._change(thread, here, cpu)
        near = problem.neighbours[thread]
        if near.size:
            step = problem.distance[cpu] - problem.distance[here]
            self.cost[near] += problem.weighted[near, thread, None] * step
        for ban, met in zip(problem.bans, self.met, strict=True):
            left, reached = ban.group[here], ban.group[cpu]
            self._parted += float(met[left, thread] - met[reached, thread])
            met[left] -= ban.pairs[thread]
            met[reached] += ban.pairs[thread]
        self.pressure += problem.activity[thread] * (problem.sharing[cpu] - problem.sharing[here])
        self.places[thread] = cpu

    def _change(self, thread: int, here: int, cpu: int) -> float:
        active, sharing = float(self.problem.activity[thread]), self.problem.sharing
        own = active * (sharing[here, cpu] - sharing[here, here])
        pressure = self.pressure[cpu] - self.pressure[here] - own
        return float(self.cost[thread, cpu] - self.cost[thread, here] + active * pressure)

    def swap(self, one: int, other: int) -> None:
        """Exchanges two threads' CPUs."""
        here, there = int(self.places[one]), int(self.places[other])
        self.move(one, there)
        self.move(other, here)

    def exchange(self, one: int, other: int) -> list[tuple[int, int]]:
        """Exchanges what is on two CPUs' cores; returns each thread moved and where it came from.

        Moves nothing if a thread may not be on the other core.
        """
        if self.problem.core[one] == self.problem.core[other]:
            return []
        cores = [np.flatnonzero(self.problem.same_core[cpu]) for cpu in (one, other)]
        planned = []
        for here, there in (cores, cores[::-1]):
            for thread in np.flatnonzero(np.isin(self.places, here)).tolist():
                turn = int(np.searchsorted(here, self.places[thread]))
                planned.append((thread, int(there[min(turn, len(there) - 1)])))
        if any(np.isinf(self.problem.alone[thread, cpu]) for thread, cpu in planned):
            return []
        done = [(thread, int(self.places[thread])) for thread, _ in planned]
        for thread, cpu in planned:
            self.move(thread, cpu)
        return done
