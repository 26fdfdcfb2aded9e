"""Splits a score by entity and term: today's, the rule's and that of the plan. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vas_affinity.entities import EntityKind, HostProblem
from vas_affinity.entities.reasons import reasons
from vas_affinity.joint import JointPlan, Solution
from vas_affinity.machine.distance.matrix import Ints
from vas_affinity.machine.topology import Frozen
from vas_affinity.search.score import PlacementProblem, Terms, Weights, terms
from vas_affinity.threads import ThreadPlan


class Parts(Frozen):
    """The cost of one entity, or of all, by term; the sum of the terms is `score`.

    `cpu` is None for all. `forbidden` counts entities on CPUs that they must not use, or with
    others that must not be there; no term counts that, so such a score is not comparable.
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


class EntityParts(Frozen):
    """The cost of one thread, virtual core, interrupt or kept core.

    `today` is None if its CPU is not known or offline, `rule` if there is no rule for it.
    """

    key: str
    today: Parts | None
    rule: Parts | None = None
    planned: Parts
    reason: str


class ScoreExplanation(Frozen):
    """The score of a plan, split by entity and term.

    `today` is None unless the present CPU of every entity is known; `rule` is None for threads.
    """

    host: str
    distances: str
    weights: Weights
    today: Parts | None
    rule: Parts | None = None
    planned: Parts
    threads: tuple[EntityParts, ...]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Returns the explanation as plain data, with the sum of each split."""
        value = self.model_dump(mode="json")
        for row, one in ((value, self), *zip(value["threads"], self.threads, strict=True)):
            for name in ("today", "rule", "planned"):
                parts = getattr(one, name)
                if parts is not None:
                    row[name]["score"] = parts.score
        return value


@dataclass(frozen=True)
class _Split:
    """The terms of a placement by entity; `known` tells for which of them they mean something."""

    arrays: PlacementProblem
    places: Ints
    terms: Terms
    known: Sequence[bool]

    def of(self, row: int) -> Parts | None:
        if not self.known[row]:
            return None
        return parts_of(self.terms, row, self.arrays.cpus[self.places[row]])

    @property
    def whole(self) -> Parts | None:
        return sum_of(self.terms) if all(self.known) else None


def explain_plan(plan: ThreadPlan, distances: str) -> ScoreExplanation:
    """Splits the scores of a plan of threads and of today; `distances` names their source."""
    why = [pin.reason for pin in plan.placement.pins]
    solution = Solution(plan.problem, plan.places)
    return _explain(solution, None, why, (plan.placement.host, distances, plan.placement.notes))


def explain_host(plan: JointPlan, distances: str) -> ScoreExplanation:
    """Splits the scores of a plan of guests, of the rule's plan and of today's placement."""
    why = _reasons(plan.planned.problem, plan.planned.places)
    about = (plan.placement.host, distances, plan.placement.notes)
    return _explain(plan.planned, plan.rule, why, about)


def _explain(
    planned: Solution,
    rule: Solution | None,
    why: Sequence[str],
    about: tuple[str, str, tuple[str, ...]],
) -> ScoreExplanation:
    host, distances, notes = about
    problem = planned.problem
    now, then = _today(problem, planned.places), _split(planned)
    by_rule = rule and _split(rule)
    missing = sum(not known for known in now.known)
    said = [f"{missing} entities' CPUs are not known: today has no score"] if missing else []
    return ScoreExplanation(
        host=host,
        distances=distances,
        weights=problem.arrays.weights,
        today=now.whole,
        rule=by_rule and by_rule.whole,
        planned=sum_of(then.terms),
        threads=tuple(
            EntityParts(
                key=key,
                today=now.of(row),
                rule=by_rule and by_rule.of(row),
                planned=parts_of(then.terms, row, then.arrays.cpus[then.places[row]]),
                reason=why[row],
            )
            for row, key in enumerate(problem.arrays.threads)
        ),
        notes=(*notes, *said),
    )


def _split(solution: Solution) -> _Split:
    arrays = solution.problem.arrays
    every = [True] * len(solution.places)
    return _Split(arrays, solution.places, terms(arrays, solution.places), every)


def _today(problem: HostProblem, planned: Ints) -> _Split:
    """Returns today's split. A kept core counts as it is planned: nothing keeps it today."""
    kept = np.array([entity.kind is EntityKind.RESERVE for entity in problem.entities], dtype=bool)
    places = np.where(kept, planned, problem.start)
    arrays = problem.arrays.without_bans(kept)
    known = (kept | (problem.today >= 0)).tolist()
    return _Split(arrays, places, terms(arrays, places), known)


def _reasons(problem: HostProblem, places: Ints) -> list[str]:
    told = reasons(problem, places)
    return [
        f"kept for {'the storage server' if entity.team == 'oss' else 'the host'}"
        if entity.kind is EntityKind.RESERVE
        else why
        for entity, why in zip(problem.entities, told, strict=True)
    ]


def parts_of(found: Terms, row: int, cpu: int) -> Parts:
    """Returns the terms of one entity, which is on that CPU."""
    return Parts(
        cpu=cpu,
        communication=float(found.communication[row]),
        sharing=float(found.sharing[row]),
        interrupt=float(found.interrupt[row]),
        memory=float(found.memory[row]),
        forbidden=int(found.forbidden[row]),
    )


def sum_of(found: Terms) -> Parts:
    """Returns the terms of all entities together."""
    return Parts(
        cpu=None,
        communication=float(found.communication.sum()),
        sharing=float(found.sharing.sum()),
        interrupt=float(found.interrupt.sum()),
        memory=float(found.memory.sum()),
        forbidden=int(found.forbidden.sum()),
    )
