"""A lab, its cgroups and its clients, and perhaps a guest next to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from vas_bench.interference.cgroups import GroupName, Groups
from vas_bench.interference.guest.guest import AnalyticsGuest
from vas_bench.interference.scope import EMULATED, ArmName
from vas_bench.interference.target import TargetStage
from vas_bench.run.counters import drop_page_cache
from vas_core.errors import VasError
from vas_core.process import run
from vas_core.root import Root
from vas_lab.control import ControlRequest
from vas_lab.hadoop.daemons import node_manager
from vas_lab.lab import Lab

# The arm says where YARN runs; clients are always the storage server's.
_GROUP_OF: dict[ArmName, GroupName] = {
    "alone": "server",
    "host": "server",
    "guest": "guest",
    "emulated": "server",
}


@dataclass(frozen=True, kw_only=True)
class LabStage(TargetStage):
    """A stage in a lab. The emulated guest, if any, has a second cgroup as its host."""

    place: Lab
    groups: Groups
    root: Root
    guest: AnalyticsGuest | None = None

    def begin(self, arm: ArmName) -> None:
        """Moves the NodeManagers to the arm's cgroup, and empties the machine's page cache."""
        self.groups.move(_GROUP_OF[arm], self._node_managers())
        drop_page_cache(self.root)

    def fio(self, arm: ArmName, argv: Sequence[str], timeout_seconds: float) -> str:
        """Runs fio as a program of the storage server, and returns what it printed.

        Raises CommandFailed when it fails, or takes longer than `timeout_seconds`.
        """
        at = self.guest.groups if self.guest and arm == EMULATED else self.groups
        entered = at.entering("server", self.place.enter(argv))
        return run(entered, timeout_seconds=timeout_seconds).stdout

    def beside(self, arm: ArmName) -> AbstractContextManager[list[float]]:
        """Runs TeraSort during the body, in YARN or in the emulated guest; nothing for `alone`.

        Yields a list that has the seconds of each job after the body.
        """
        if arm == EMULATED:
            assert self.guest is not None, "no such arm without a guest"
            return self.guest.at_work()
        return super().beside(arm)

    def _node_managers(self) -> list[int]:
        """Outside of the lab, where cgroups are written. What they start is where they are."""
        named = {node_manager(guest.name) for guest in self.place.spec.cluster.guests()}
        daemons = self.place.ask(ControlRequest(ask="status")).daemons
        inner = [it.pid for it in daemons if it.name in named and it.pid is not None]
        return outside(self.root, self.place.running.supervisor, inner)


def outside(root: Root, supervisor: int, inside: Collection[int]) -> list[int]:
    """Returns the process ids, outside the lab, of processes with these ids inside it, in order.

    Raises VasError where one is not there. The kernel lists the ids of both (`NSpid` in proc(5)).
    Two labs have the same ids inside, so only processes of the supervisor's PID namespace count.
    """
    namespace = root.link(f"proc/{supervisor}/ns/pid")
    found: dict[int, int] = {}
    for path in root.glob("proc/[0-9]*/status"):
        pid = int(path.parent.name)
        with suppress(OSError):  # it ended meanwhile
            if root.link(f"proc/{pid}/ns/pid") == namespace:
                found[_innermost(path.read_text(errors="replace"))] = pid
    missing = sorted(set(inside) - found.keys())
    if namespace is None or missing:
        raise VasError(f"process {missing[0] if missing else 1} is not there", where="lab")
    return [found[each] for each in inside]


def _innermost(status: str) -> int:
    line = next(line for line in status.splitlines() if line.startswith("NSpid:"))
    return int(line.split()[-1])
