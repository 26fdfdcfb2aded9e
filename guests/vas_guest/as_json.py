"""The results of `vas guest` for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vas_guest.compare import GuestDifference, counts_from_a_start
from vas_guest.desired import DesiredGuest
from vas_guest.trust import Untrue
from vas_guest.vfs import SysfsWrite


def differences_json(
    desired: DesiredGuest, found: Sequence[GuestDifference], *, running: bool
) -> dict[str, Any]:
    """Returns the differences, and whether a running guest must restart for them."""
    return {
        "guest": desired.guest.name,
        "differences": [vars(one) for one in found],
        "running": running,
        "restart": running and counts_from_a_start(found),
    }


def functions_json(
    pf: str,
    desired: int,
    writes: Sequence[SysfsWrite],
    functions: Sequence[str],
    trust: Untrue,
    *,
    interrupts: bool,
) -> dict[str, Any]:
    """Returns the changes of a PF's virtual functions; `functions` are those of the guests.

    `interrupts`: making them may interrupt the storage's traffic.
    """
    return {
        "pf": pf,
        "wished": desired,
        "interrupts": interrupts,
        "steps": [vars(write) for write in writes],
        "functions": functions,
        "trust": vars(trust),
    }
