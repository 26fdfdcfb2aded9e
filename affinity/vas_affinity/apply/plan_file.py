"""Reading a plan, and refusing one that cannot be meant for this host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from vas_affinity.apply.knobs import GUEST_TARGETS
from vas_affinity.placement import Pin, Placement, Target
from vas_affinity.placement_file import read_placement
from vas_core.errors import BadInput

_NUMBERED = (Target.VCPU, Target.IOTHREAD, Target.INTERRUPT)


def read_plan(file: Path, host: str) -> Placement:
    """The plan in a file. Raises BadInput that names file, key and what is wrong."""
    plan = read_placement(file)
    if not _is_called(plan.host, host):
        hint = f"plan on {host}, or give --host {plan.host} if that is this machine"
        raise BadInput(f"is the plan of {plan.host}, not of {host}", where=str(file), hint=hint)
    for problem in problems(plan):
        raise BadInput(problem, where=str(file))
    return plan


def _is_called(name: str, other: str) -> bool:
    """Whether two names are one host's, with its domain or without, as the map has them."""
    (short, _, domain), (other_short, _, other_domain) = name.partition("."), other.partition(".")
    return short == other_short and (domain == other_domain or not (domain and other_domain))


def problems(plan: Placement) -> Iterator[str]:
    """What no host could do: `pins.3: ...`."""
    seen: dict[tuple[object, ...], int] = {}
    for index, pin in enumerate(plan.pins):
        if wrong := _problem(pin):
            yield f"pins.{index}: {wrong}"
        first = seen.setdefault(_identity(pin), index)
        if first != index:
            yield f"pins.{index}: {pin.target} {pin.name} is pinned by pins.{first} too"


def _identity(pin: Pin) -> tuple[object, ...]:
    thread = pin.target is Target.THREAD
    return (pin.target, pin.guest, pin.tid if thread and pin.tid else pin.name)


def _problem(pin: Pin) -> str | None:
    if not pin.cpus:
        return "has no CPU"
    if pin.target in GUEST_TARGETS and not pin.guest:
        return f"a pin of {pin.target} needs its guest"
    if pin.target in _NUMBERED and not (pin.name.isascii() and pin.name.isdecimal()):
        return f"{pin.name!r} is no number of a {pin.target}"
    if (pin.tid is None) != (pin.start is None):
        return "needs both tid and start, or neither"
    if pin.target is Target.GROUP and not _is_group(pin.name):
        return f"{pin.name!r} is no cgroup's path"
    return None


def _is_group(name: str) -> bool:
    parts = PurePosixPath(name.strip("/")).parts
    return bool(parts) and ".." not in parts
