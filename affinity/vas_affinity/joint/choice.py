"""An entity of the joint problem, with the CPUs that it may have."""

from __future__ import annotations

from dataclasses import dataclass, field

from vas_affinity.entities import Entity


@dataclass(frozen=True, kw_only=True)
class EntityChoice:
    """An entity, the CPU that the rule gives it, and the CPUs that it may have.

    `wide`: it uses all CPUs of its core, and is placed on the core's first. `counted` is the use
    with which its distance from its device's interrupts counts. `memory` is node -> share of the
    memory that it uses.
    """

    entity: Entity
    rule: int
    allowed: tuple[int, ...]
    use: float
    wide: bool = False
    counted: float = 0.0
    memory: dict[int, float] = field(default_factory=dict)
