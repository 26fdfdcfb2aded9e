"""Selects the parts of a placement that belong to one guest."""

from __future__ import annotations

from collections.abc import Sequence

from vas_affinity.placement import GuestMemory, GuestShape, HostPlacement, Pin, PinTarget
from vas_core.errors import BadInput


def guests_of(placement: HostPlacement, name: str | None) -> tuple[str, ...]:
    """Returns the plan's guests, or only the one of that name. Raises BadInput if there is none."""
    names = tuple(shape.guest for shape in placement.shapes)
    if name is None and names:
        return names
    if name in names:
        return (name,)
    if not names:
        hint = "plan them with `vas affinity plan --vcpus N` or `--cluster FILE`"
        raise BadInput("the plan has no guests", where=placement.host, hint=hint)
    raise BadInput("is not a guest of the plan", where=name, hint=f"it has {', '.join(names)}")


def shape_of(placement: HostPlacement, guest: str) -> GuestShape:
    """Returns the shape of a guest that the plan has."""
    return next(shape for shape in placement.shapes if shape.guest == guest)


def memory_of(placement: HostPlacement, guest: str) -> GuestMemory | None:
    """Returns the guest's memory; None if the plan does not place it."""
    return next((memory for memory in placement.memory if memory.guest == guest), None)


def pins_of(placement: HostPlacement, target: PinTarget, guest: str | None = None) -> Sequence[Pin]:
    """Returns the pins of one target, of one guest if it is named, in the plan's order."""
    return [pin for pin in placement.pins if pin.target is target and guest in (None, pin.guest)]
