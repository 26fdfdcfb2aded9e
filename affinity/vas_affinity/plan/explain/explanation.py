"""Splits a score by thread and term, for today's placement and the planned one. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.machine.topology import Frozen
from vas_affinity.search.score import PlacementProblem, Terms, Weights, terms
from vas_affinity.threads import ThreadPlan


class Parts(Frozen):
    """The cost of one thread, or of all threads, by term; the sum of the terms is `score`.

    `cpu` is None for all threads. `forbidden` counts threads on CPUs that they must not use; no
    term counts that, so such a score is not comparable.
    """

    cpu: int | None
    communication: float
    sharing: float
    interrupt: float
    memory: float
    forbidden: int

    @property
    def score(self) -> float:
        """Returns the sum of the terms."""
        return self.communication + self.sharing + self.interrupt + self.memory


class ThreadParts(Frozen):
    """The cost of one thread; `today` is None if its CPU is not known or offline."""

    key: str
    today: Parts | None
    planned: Parts
    reason: str


class ScoreExplanation(Frozen):
    """The score of a plan, split by thread and term.

    `today` is None unless the present CPU of every thread is known.
    """

    host: str
    distances: str
    weights: Weights
    today: Parts | None
    planned: Parts
    threads: tuple[ThreadParts, ...]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Returns the explanation as plain data, with the sum of each split."""
        value = self.model_dump(mode="json")
        for parts, whole in ((value["today"], self.today), (value["planned"], self.planned)):
            if whole:
                parts["score"] = whole.score
        for row, thread in zip(value["threads"], self.threads, strict=True):
            row["planned"]["score"] = thread.planned.score
            if thread.today:
                row["today"]["score"] = thread.today.score
        return value


def explain_plan(plan: ThreadPlan, distances: str) -> ScoreExplanation:
    """Splits the scores of a plan and of today's placement; `distances` names their source."""
    arrays, today = plan.problem.arrays, plan.problem.today
    planned = terms(arrays, plan.places)
    now = terms(arrays, plan.problem.start)
    known = today >= 0
    threads = tuple(
        ThreadParts(
            key=key,
            today=_of(arrays, now, row, today) if known[row] else None,
            planned=_of(arrays, planned, row, plan.places),
            reason=plan.placement.pins[row].reason,
        )
        for row, key in enumerate(arrays.threads)
    )
    notes = list(plan.placement.notes)
    if not known.all():
        missing = int(np.count_nonzero(~known))
        notes.append(f"{missing} threads' CPUs are not known: today has no score")
    return ScoreExplanation(
        host=plan.placement.host,
        distances=distances,
        weights=arrays.weights,
        today=_sum(now) if known.all() else None,
        planned=_sum(planned),
        threads=threads,
        notes=tuple(notes),
    )


def _of(arrays: PlacementProblem, found: Terms, row: int, places: Ints) -> Parts:
    return Parts(
        cpu=arrays.cpus[places[row]],
        communication=float(found.communication[row]),
        sharing=float(found.sharing[row]),
        interrupt=float(found.interrupt[row]),
        memory=float(found.memory[row]),
        forbidden=int(found.forbidden[row]),
    )


def _sum(found: Terms) -> Parts:
    return Parts(
        cpu=None,
        communication=float(found.communication.sum()),
        sharing=float(found.sharing.sum()),
        interrupt=float(found.interrupt.sum()),
        memory=float(found.memory.sum()),
        forbidden=int(found.forbidden.sum()),
    )
