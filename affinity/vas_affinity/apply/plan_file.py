"""Reads a plan, and refuses a plan of another host or with impossible pins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from vas_affinity.apply.host_settings import GUEST_TARGETS
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_affinity.placement_file import read_placement
from vas_core.errors import BadInput

_NUMBERED = (PinTarget.VCPU, PinTarget.IOTHREAD, PinTarget.INTERRUPT)


def read_plan(file: Path, host: str) -> HostPlacement:
    """Returns the plan in a file. Raises BadInput that names the file, the key and the problem."""
    return check_plan(read_placement(file), host, str(file))


def check_plan(plan: HostPlacement, host: str, where: str) -> HostPlacement:
    """Returns the plan. Raises BadInput, for a plan of another host or one that no host can have.

    `where` names the plan's file in messages.
    """
    if not _is_called(plan.host, host):
        hint = f"plan on {host}, or give --host {plan.host} if that is this machine"
        raise BadInput(f"is the plan of {plan.host}, not of {host}", where=where, hint=hint)
    for problem in problems(plan):
        raise BadInput(problem, where=where)
    return plan


def _is_called(name: str, other: str) -> bool:
    """Tells whether two names are of one host: either may lack the domain."""
    (short, _, domain), (other_short, _, other_domain) = name.partition("."), other.partition(".")
    return short == other_short and (domain == other_domain or not (domain and other_domain))


def problems(plan: HostPlacement) -> Iterator[str]:
    """Returns the pins that no host could apply, each as `pins.3: problem`."""
    seen: dict[tuple[object, ...], int] = {}
    for index, pin in enumerate(plan.pins):
        if wrong := _problem(pin):
            yield f"pins.{index}: {wrong}"
        first = seen.setdefault(_identity(pin), index)
        if first != index:
            yield f"pins.{index}: {pin.target} {pin.name} is pinned by pins.{first} too"


def _identity(pin: Pin) -> tuple[object, ...]:
    thread = pin.target is PinTarget.THREAD
    return (pin.target, pin.guest, pin.tid if thread and pin.tid else pin.name)


def _problem(pin: Pin) -> str | None:
    if not pin.cpus:
        return "has no CPU"
    if pin.target in GUEST_TARGETS and not pin.guest:
        return f"a pin of {pin.target} needs its guest"
    if pin.target in _NUMBERED and not (pin.name.isascii() and pin.name.isdecimal()):
        return f"{pin.name!r} is not a number of a {pin.target}"
    if (pin.tid is None) != (pin.start is None):
        return "needs both tid and start, or neither"
    if pin.target is PinTarget.GROUP and not _is_group(pin.name):
        return f"{pin.name!r} is not a path of a cgroup"
    return None


def _is_group(name: str) -> bool:
    parts = PurePosixPath(name.strip("/")).parts
    return bool(parts) and ".." not in parts
