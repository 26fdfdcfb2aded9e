"""A placement's parts, by guest."""

from __future__ import annotations

from collections.abc import Sequence

from vas_affinity.placement import GuestMemory, GuestShape, Pin, Placement, Target
from vas_core.errors import BadInput


def guests_of(placement: Placement, name: str | None) -> tuple[str, ...]:
    """The plan's guests, or the one of that name. Raises BadInput where there is none."""
    names = tuple(shape.guest for shape in placement.shapes)
    if name is None and names:
        return names
    if name in names:
        return (name,)
    if not names:
        hint = "plan them with `vas affinity plan --vcpus N` or `--cluster FILE`"
        raise BadInput("the plan has no guests", where=placement.host, hint=hint)
    raise BadInput("is no guest of the plan", where=name, hint=f"it has {', '.join(names)}")


def shape_of(placement: Placement, guest: str) -> GuestShape:
    """The guest's shape."""
    return next(shape for shape in placement.shapes if shape.guest == guest)


def memory_of(placement: Placement, guest: str) -> GuestMemory | None:
    """The guest's memory, if the plan places it."""
    return next((memory for memory in placement.memory if memory.guest == guest), None)


def pins_of(placement: Placement, target: Target, guest: str | None = None) -> Sequence[Pin]:
    """The pins of one target, of one guest if named, in the plan's order."""
    return [pin for pin in placement.pins if pin.target is target and guest in (None, pin.guest)]
