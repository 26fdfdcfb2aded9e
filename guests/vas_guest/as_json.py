"""Makes the JSON documents that the commands of `vas guest` print."""

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
    """Returns a guest's differences as `vas guest apply` and `verify` print them by --json.

    `running` tells whether the guest runs; `restart` in the result, whether it must restart for
    them.
    """
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
    """Returns the virtual functions (VFs) of an adapter as `vas guest vfs --json` prints them.

    `desired` is how many VFs the guests need, `functions` are the PCI addresses of the guests'
    VFs. `interrupts` tells whether the writes may interrupt the storage's traffic.
    """
    return {
        "pf": pf,
        "wished": desired,
        "interrupts": interrupts,
        "steps": [vars(write) for write in writes],
        "functions": functions,
        "trust": vars(trust),
    }
