"""Lists all checks in the order in which they run: first those that the others rely on."""

from __future__ import annotations

from collections.abc import Sequence

from vas_accept.checks import (
    archive,
    copying,
    java,
    jobs,
    layouts,
    locks,
    owners,
    setting,
    space,
    syncing,
)
from vas_accept.outcome import AcceptanceCheck
from vas_core.errors import BadInput
from vas_core.suggest import closest

CHECKS: tuple[AcceptanceCheck, ...] = (
    *layouts.CHECKS,
    *setting.CHECKS,
    *copying.CHECKS,
    *archive.CHECKS,
    *owners.CHECKS,
    *locks.CHECKS,
    *syncing.CHECKS,
    *space.CHECKS,
    *java.CHECKS,
    *jobs.CHECKS,
)


def chosen(names: Sequence[str]) -> tuple[AcceptanceCheck, ...]:
    """Returns the checks whose names begin with one of `names`; all checks if there are none.

    Raises BadInput for a name that no check begins with.
    """
    for name in names:
        if not any(check.name.startswith(name) for check in CHECKS):
            known = [check.name for check in CHECKS]
            close = closest(name, known)
            hint = f"did you mean {close}?" if close else f"checks: {', '.join(known)}"
            raise BadInput(f"no check {name!r}", where="--only", hint=hint)
    return tuple(c for c in CHECKS if not names or any(c.name.startswith(n) for n in names))
