"""Sets the adapter's trust in the guests' virtual functions, a setting of the PF's driver.

Drivers reset a VF when its trust changes (i40e, ice: `*_ndo_set_vf_trust`), so VFs in use are left
as they are. The command is ip-link(8).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vas_core.errors import FoundDifferent
from vas_core.process import run
from vas_guest.vfs import Adapter


@dataclass(frozen=True)
class Untrue:
    """Numbers of the VFs whose trust differs from the desired one: unused VFs, and those in use."""

    free: tuple[int, ...] = ()
    used: tuple[int, ...] = ()


def read_functions(pf: str) -> list[dict[str, Any]]:
    """Returns the state of each VF of a PF, as `ip -json link` prints it (`vfinfo_list`).

    Raises CommandFailed if `ip` fails, NotHere without it.
    """
    said = run(["ip", "-json", "link", "show", "dev", pf]).stdout
    return [vf for link in json.loads(said) for vf in link.get("vfinfo_list", ())]


def untrue(
    found: Adapter, functions: Sequence[Mapping[str, Any]], chosen: Collection[str], *, trust: bool
) -> Untrue:
    """Returns the numbers of the VFs at `chosen` addresses whose trust is not `trust`. Pure.

    `functions` is the state of the PF's VFs, from `read_functions`.
    """
    differ = [
        vf["vf"]
        for vf in functions
        if vf["vf"] < len(found.addresses)
        and found.addresses[vf["vf"]] in chosen
        and bool(vf.get("trust")) is not trust
    ]
    used = tuple(number for number in differ if f"virtfn{number}" in found.used)
    return Untrue(tuple(number for number in differ if number not in used), used)


def set_trust(found: Adapter, chosen: Collection[str], *, trust: bool, dry_run: bool) -> Untrue:
    """Sets the trust of the unused VFs, reads it back, and returns what differed before.

    Raises FoundDifferent if the adapter did not take it, CommandFailed if `ip` fails.
    """
    before = untrue(found, read_functions(found.pf), chosen, trust=trust) if chosen else Untrue()
    if dry_run or not before.free:
        return before
    value = "on" if trust else "off"
    for number in before.free:
        run(["ip", "link", "set", "dev", found.pf, "vf", str(number), "trust", value])
    left = untrue(found, read_functions(found.pf), chosen, trust=trust)
    if left.free:
        what = f"did not take trust {value} of the virtual functions {_listed(left.free)}"
        hint = "see the kernel's log, and the adapter's firmware"
        raise FoundDifferent(what, where=found.pf, hint=hint)
    return before


def waiting(found: Untrue) -> str:
    """Returns a message about VFs whose trust cannot change now; empty if there are none.

    Such a VF is in use: its trust can be set when its guest is shut down.
    """
    if not found.used:
        return ""
    return (
        f"the trust of the virtual functions {_listed(found.used)} differs from the settings, and "
        "they are in use: run `vas guest vfs` again when their guests are shut down"
    )


def _listed(numbers: Collection[int]) -> str:
    return ", ".join(map(str, numbers))
