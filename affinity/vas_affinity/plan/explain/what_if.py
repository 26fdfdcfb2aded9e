"""Answers what a plan would cost if an entity were on another CPU. Pure."""

from __future__ import annotations

import numpy as np

from vas_affinity.joint import Solution
from vas_affinity.machine.topology import Frozen
from vas_affinity.plan.explain.explanation import Parts, parts_of, sum_of
from vas_affinity.search.assignment import Assignment
from vas_affinity.search.score import terms
from vas_core.errors import BadInput


class MovedEntity(Frozen):
    """An entity that a what-if moves, with its cost before and after."""

    key: str
    before: Parts
    after: Parts


class WhatIf(Frozen):
    """The cost of a plan before and after a move. `moved` are the entities whose cost changes."""

    move: str
    before: Parts
    after: Parts
    moved: tuple[MovedEntity, ...]

    @property
    def change(self) -> float:
        """Returns by how much the score rises."""
        return self.after.score - self.before.score


def what_if(solution: Solution, move: str) -> WhatIf:
    """Moves an entity, `KEY=CPU`, and what must not share its new core to the core it leaves.

    Raises BadInput for an unknown entity or CPU, and for two cores that cannot be exchanged.
    """
    arrays = solution.problem.arrays
    row, column = _read(arrays.threads, arrays.cpus, move)
    if arrays.wide is not None and arrays.wide[row]:  # its place is its core's first CPU
        column = int(np.flatnonzero(arrays.same_core[column])[0])
    assignment = Assignment(arrays, solution.places)
    here = int(solution.places[row])
    bans = zip(arrays.bans, assignment.met, strict=True)
    met = any(met[ban.group[column], row] > 0 for ban, met in bans)
    if met and not assignment.exchange(here, column):
        what = "cannot be exchanged: what is on one of the two cores must not be on the other"
        raise BadInput(f"CPU {arrays.cpus[here]} and {arrays.cpus[column]} {what}", where=move)
    assignment.move(row, column)
    before, after = terms(arrays, solution.places), terms(arrays, assignment.places)
    changed = np.flatnonzero(
        (np.abs(before.by_thread - after.by_thread) > 1e-9) | (solution.places != assignment.places)
    )
    return WhatIf(
        move=move,
        before=sum_of(before),
        after=sum_of(after),
        moved=tuple(
            MovedEntity(
                key=arrays.threads[each],
                before=parts_of(before, each, arrays.cpus[solution.places[each]]),
                after=parts_of(after, each, arrays.cpus[assignment.places[each]]),
            )
            for each in changed.tolist()
        ),
    )


def _read(keys: tuple[str, ...], cpus: tuple[int, ...], move: str) -> tuple[int, int]:
    key, _, cpu = move.rpartition("=")
    if key not in keys:
        near = ", ".join(keys[:8])
        raise BadInput("is not KEY=CPU of an entity of the plan", where=move, hint=f"like {near}")
    if not cpu.isdecimal() or int(cpu) not in cpus:
        raise BadInput(f"CPU {cpu} is not online", where=move)
    return keys.index(key), cpus.index(int(cpu))
