"""A score taken apart: by thread and by term, today's placement beside the planned one. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from vas_affinity.distance.matrix import Ints
from vas_affinity.score import Problem, Terms, Weights, terms
from vas_affinity.thread_plan import ThreadPlan
from vas_affinity.topology import Frozen


class Parts(Frozen):
    """What a thread, or all of them, pays by term: the sum is `score`.

    `cpu` is None for all of them; `forbidden` counts threads where they may not be, which no term
    has: the score is then not comparable.
    """

    cpu: int | None
    communication: float
    sharing: float
    interrupt: float
    memory: float
    forbidden: int

    @property
    def score(self) -> float:
        """The sum of the terms."""
        return self.communication + self.sharing + self.interrupt + self.memory


class ThreadParts(Frozen):
    """A thread: `today` is None where its CPU is not known or offline."""

    key: str
    today: Parts | None
    planned: Parts
    reason: str


class Explanation(Frozen):
    """The whole. `today` is None unless every thread's place is known."""

    host: str
    distances: str
    weights: Weights
    today: Parts | None
    planned: Parts
    threads: tuple[ThreadParts, ...]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain data, with each sum."""
        value = self.model_dump(mode="json")
        for parts, whole in ((value["today"], self.today), (value["planned"], self.planned)):
            if whole:
                parts["score"] = whole.score
        for row, thread in zip(value["threads"], self.threads, strict=True):
            row["planned"]["score"] = thread.planned.score
            if thread.today:
                row["today"]["score"] = thread.today.score
        return value


def explain_plan(plan: ThreadPlan, distances: str) -> Explanation:
    """Where the score of a plan comes from, and what today's placement pays."""
    problem, today = plan.posed.problem, plan.posed.today
    planned = terms(problem, plan.places)
    now = terms(problem, plan.posed.start)
    known = today >= 0
    threads = tuple(
        ThreadParts(
            key=key,
            today=_of(problem, now, row, today) if known[row] else None,
            planned=_of(problem, planned, row, plan.places),
            reason=plan.placement.pins[row].reason,
        )
        for row, key in enumerate(problem.threads)
    )
    notes = list(plan.placement.notes)
    if not known.all():
        missing = int(np.count_nonzero(~known))
        notes.append(f"{missing} threads' CPUs are not known: today has no score")
    return Explanation(
        host=plan.placement.host,
        distances=distances,
        weights=problem.weights,
        today=_sum(now) if known.all() else None,
        planned=_sum(planned),
        threads=threads,
        notes=tuple(notes),
    )


def _of(problem: Problem, found: Terms, row: int, places: Ints) -> Parts:
    return Parts(
        cpu=problem.cpus[places[row]],
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
