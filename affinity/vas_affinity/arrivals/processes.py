"""Finds the processes whose threads are in the plan: by a plan's pins, and by a user's patterns."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import FileIO

from vas_affinity.arrivals.adopt import Arrival, base_of, thread_pins
from vas_affinity.machine.reading.procfs import RunningProcess
from vas_affinity.machine.reading.tasks import TaskStat, read_gone, read_task, tids_of
from vas_affinity.machine.reading.threads import is_meant
from vas_affinity.placement import HostPlacement
from vas_core.root import Root

_LONGEST_ARGUMENTS = 16 << 10
_ROOT = 0


@dataclass(frozen=True)
class PlanProcess:
    """A process that has threads in the plan. `is_asked`: a pattern of the user matches it."""

    pid: int
    start: int
    program: str
    is_asked: bool


@dataclass
class PlanProcesses:
    """The running processes of the plan, as last looked at.

    A process may take over pins only if its owner is root, or the owner of a thread that the
    daemon saw under the same program: anybody may give a program the name of another.
    """

    root: Root
    patterns: Sequence[str] = ()
    found: dict[int, PlanProcess] = field(default_factory=dict)
    _bases: set[str] = field(default_factory=set)
    _owners: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    _own: frozenset[int] = frozenset()
    _refused: int = 0
    _seen: set[int] = field(default_factory=set)

    def use(self, plan: HostPlacement | None) -> None:
        """Takes the programs of a plan's pins, and learns the owners of its running threads."""
        pins = [] if plan is None else thread_pins(plan)
        self._bases = {base_of(pin) for pin in pins if pin.guest is None}
        self._own = self._own or _ancestors(self.root)
        for pin in pins:
            stat = pin.tid and read_task(self.root, pin.tid, pin.tid)
            if stat and stat.start == pin.start and (owner := self._owner(stat.tid)) is not None:
                self._owners[base_of(pin).removesuffix(f"/{stat.name}")].add(owner)

    def look(self) -> None:
        """Examines every process of the machine."""
        self._seen.clear()
        self.look_at_new()

    def look_at_new(self) -> list[int]:
        """Examines the processes that were not there at the last look; returns those of the plan.

        One that ran another program since, or got the number of one that ended, is left out.
        """
        there = {int(name) for name in self.root.names("proc") if name.isdecimal()}
        for pid in self.found.keys() - there:
            del self.found[pid]
        new, self._seen = there - self._seen, there
        return [pid for pid in new if self.examine(pid)]

    def examine(self, pid: int) -> PlanProcess | None:
        """Reads one process again, and returns it if it is of the plan."""
        self.found.pop(pid, None)
        stat = None if pid in self._own else read_task(self.root, pid, pid)
        if stat is None:
            return None
        arguments = self._arguments(pid)
        running = RunningProcess(pid, stat.name, arguments, stat.parent)
        is_asked = any(is_meant(pattern, running) for pattern in self.patterns)
        if is_asked or self._is_in_plan(running):
            self.found[pid] = PlanProcess(pid, stat.start, running.program, is_asked)
        return self.found.get(pid)

    def arrival(self, process: PlanProcess, tid: int) -> Arrival | None:
        """Reads a thread of a process; None if it ended, or the process did."""
        stat = read_task(self.root, process.pid, tid)
        return _arrival(process, stat) if stat else None

    def is_same(self, process: PlanProcess) -> bool:
        """Tells whether a process still runs: the kernel reuses process ids."""
        stat = read_task(self.root, process.pid, process.pid)
        return stat is not None and stat.start == process.start

    def threads(self) -> dict[int, list[int]]:
        """Returns the threads of each process of the plan."""
        return {pid: tids_of(self.root, pid) for pid in self.found}

    def take_refused(self) -> int:
        """Returns how often a process was refused for its owner since the last call."""
        count, self._refused = self._refused, 0
        return count

    def _is_in_plan(self, running: RunningProcess) -> bool:
        prefix = f"{running.program}/"
        if not any(base.startswith(prefix) for base in self._bases):
            return False
        allowed = {_ROOT, *self._owners.get(running.program, ())}
        if self._owner(running.pid) in allowed:
            return True
        self._refused += 1
        return False

    def _owner(self, pid: int) -> int | None:
        """Returns the user of a process. The owner of /proc/PID may be root for others' too."""
        for line in (read_gone(self.root, f"proc/{pid}/status") or "").splitlines():
            if line.startswith("Uid:"):
                return int(line.split()[2])
        return None

    def _arguments(self, pid: int) -> tuple[str, ...]:
        """Returns the first arguments: a process may have many megabytes of them."""
        try:
            with FileIO(f"{self.root.directory}/proc/{pid}/cmdline") as file:
                words = file.read(_LONGEST_ARGUMENTS)
        except (FileNotFoundError, ProcessLookupError):
            return ()
        text = words.decode(errors="surrogateescape").rstrip("\n")
        return tuple(text.split("\0")) if text else ()


def _arrival(process: PlanProcess, stat: TaskStat) -> Arrival:
    return Arrival(
        process.pid,
        stat.tid,
        stat.start,
        process.program,
        stat.name,
        stat.cpu,
        process.is_asked,
    )


def _ancestors(root: Root) -> frozenset[int]:
    """Returns this process and its ancestors, whose arguments hold the patterns too."""
    found: set[int] = set()
    pid = os.getpid()
    while pid > 1 and pid not in found and (stat := read_task(root, pid, pid)):
        found.add(pid)
        pid = stat.parent
    return frozenset(found)
