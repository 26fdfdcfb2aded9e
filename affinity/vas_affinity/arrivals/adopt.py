"""Finds the pins of a plan that new threads take over: those of ended threads of their name. Pure.

A thread's key stays the same when it ends and starts again, so the plan says where the new one
belongs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from vas_affinity.placement import HostPlacement, Pin, PinTarget

NOBODY = 0
"""The thread id and the start of a pin whose thread turned out to be another one."""


@dataclass(frozen=True)
class Arrival:
    """A thread that appeared. `is_asked`: the user named its process, so that it may be planned."""

    pid: int
    tid: int
    start: int
    program: str
    name: str
    cpu: int
    is_asked: bool = False

    @property
    def base(self) -> str:
        """Returns the thread's key without its ordinal."""
        return f"{self.program}/{self.name}"


def base_of(pin: Pin) -> str:
    """Returns the key of a pin's thread without its ordinal."""
    return pin.name.rpartition("/")[0]


def thread_pins(plan: HostPlacement) -> list[Pin]:
    """Returns the pins of threads that were seen on this host."""
    return [pin for pin in plan.pins if pin.target is PinTarget.THREAD and pin.tid is not None]


def unplaced(
    plan: HostPlacement, arrivals: Iterable[Arrival], mine: Collection[tuple[int, int]]
) -> list[Arrival]:
    """Returns the arrivals that the plan does not pin, in order of their start.

    A thread in `mine` (tid, start), which was placed at its creation, is among them if it changed
    its name since; others keep the pin that the plan has for them under their former name.
    """
    pins = {(pin.tid, pin.start): pin for pin in thread_pins(plan)}
    found = []
    for arrival in sorted(arrivals, key=lambda one: (one.start, one.tid)):
        pin = pins.get((arrival.tid, arrival.start))
        renamed = pin is not None and base_of(pin) != arrival.base
        if pin is None or (renamed and (arrival.tid, arrival.start) in mine):
            found.append(arrival)
    return found


def adopted(
    plan: HostPlacement, arrivals: Sequence[Arrival], is_there: Callable[[Pin], bool]
) -> tuple[list[Pin], list[Arrival]]:
    """Returns the pins that arrivals take over, and the arrivals that find none.

    `is_there` tells whether a pin's thread still runs.
    """
    wanted = {arrival.base for arrival in arrivals}
    free: defaultdict[str, list[Pin]] = defaultdict(list)
    for pin in thread_pins(plan):
        if base_of(pin) in wanted and not is_there(pin):
            free[base_of(pin)].append(pin)
    taken, others = [], []
    for arrival in arrivals:
        if mine := free[arrival.base]:
            taken.append(mine.pop(0).model_copy(update=_identity(arrival.tid, arrival.start)))
        else:
            others.append(arrival)
    return taken, others


def with_pins(plan: HostPlacement, new: Sequence[Pin]) -> HostPlacement:
    """Returns the plan with these pins of threads in place of those of their names.

    A pin that a new one's thread had under a former name is kept for the next thread of that name.
    """
    names = {pin.name: pin for pin in new}
    identities = {(pin.tid, pin.start) for pin in new}
    pins: list[Pin] = []
    for pin in plan.pins:
        if pin.target is not PinTarget.THREAD:
            pins.append(pin)
        elif pin.name in names:
            pins.append(names.pop(pin.name))
        elif (pin.tid, pin.start) in identities:
            pins.append(pin.model_copy(update=_identity(NOBODY, NOBODY)))
        else:
            pins.append(pin)
    return plan.model_copy(update={"pins": (*pins, *names.values())})


def without(plan: HostPlacement, names: Collection[str]) -> HostPlacement:
    """Returns the plan without the pins of threads of these names."""
    kept = (p for p in plan.pins if p.target is not PinTarget.THREAD or p.name not in names)
    return plan.model_copy(update={"pins": tuple(kept)})


def _identity(tid: int, start: int) -> dict[str, int]:
    return {"tid": tid, "start": start}
