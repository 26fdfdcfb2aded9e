"""Runs the checks that every room declares: what this machine can run, and what it lacks.

A room declares its checks as it declares its commands, by an entry point: a function of the group
`vas.checks` that takes the file-system root and yields a `DoctorFinding` for each thing that it
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from vas_core.errors import VasError
from vas_core.root import Root

ENTRY_POINT_GROUP = "vas.checks"


@dataclass(frozen=True, kw_only=True)
class DoctorFinding:
    """A thing that a machine has or lacks. `needed_for` names the commands that need it.

    A missing thing has a `fix`, and makes `vas doctor` fail unless it is `optional`.
    """

    name: str
    ok: bool
    found: str
    needed_for: str
    fix: str
    optional: bool = False

    def as_json(self) -> dict[str, object]:
        """Returns the finding as `vas doctor --json` prints it, without a fix where none is
        needed."""
        return {**vars(self), "fix": "" if self.ok else self.fix}


Check = Callable[[Root], Iterable[DoctorFinding]]


def checks() -> dict[str, Check]:
    """Returns every room's checks, by the room's name; core's own first.

    A check that cannot be loaded is there too: it raises the reason when it is called.
    """
    found = {entry.name: _loaded(entry) for entry in entry_points(group=ENTRY_POINT_GROUP)}
    return dict(sorted(found.items(), key=lambda item: (item[0] != "core", item[0])))


def _loaded(entry: EntryPoint) -> Check:
    try:
        check: Check = entry.load()
    except Exception as error:
        broken = error

        def check(_root: Root) -> Iterable[DoctorFinding]:
            raise broken

    return check


def examine(root: Root, rooms: dict[str, Check]) -> Iterator[DoctorFinding]:
    """Yields all findings. A check that fails is a finding too, and does not stop the others."""
    for room, check in rooms.items():
        try:
            yield from check(root)
        except Exception as broken:
            kind = "" if isinstance(broken, VasError | OSError) else f"{type(broken).__name__}: "
            yield DoctorFinding(
                name=room,
                ok=False,
                found=f"not checked: {kind}{broken}",
                needed_for=f"{room}'s commands",
                fix="fix that, then run `vas doctor` again",
            )
