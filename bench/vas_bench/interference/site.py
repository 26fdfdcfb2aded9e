"""A lab, its cgroups and its clients: where a turn is played."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from vas_bench import page_cache
from vas_bench.interference import fio
from vas_bench.interference.cgroups import GroupName, Groups
from vas_bench.interference.load import in_a_loop
from vas_bench.interference.patterns import ALONE, PATTERNS, ArmName
from vas_bench.interference.processes import outside
from vas_bench.interference.sizes import Sizes
from vas_bench.interference.turns import Played, Turn
from vas_core.process import run
from vas_core.root import Root
from vas_lab.arms import Arm
from vas_lab.control import Request
from vas_lab.daemons import node_manager
from vas_lab.lab import Lab
from vas_lab.terasort import TeraSort
from vas_lab.trees import inside, remove_tree

DIRECTORY = "/interference"
_CLIENTS = f"{DIRECTORY}/clients"
# Beyond what a measurement is to take: fio's start, and its files' opening.
_SPARE_SECONDS = 120.0
_BY_NAME = {pattern.name: pattern for pattern in PATTERNS}
# The arm says where YARN runs; clients are always the storage server's.
_GROUP_OF: dict[ArmName, GroupName] = {"alone": "server", "host": "server", "guest": "guest"}


@dataclass(frozen=True)
class Site:
    """What turns are played on. `seconds` is how long each pattern is measured."""

    lab: Lab
    groups: Groups
    sizes: Sizes
    job: TeraSort
    system: Arm
    seconds: int
    root: Root

    def prepare(self) -> None:
        """Makes the job's input and the clients' files. Raises VasError when that fails."""
        remove_tree(self.lab, DIRECTORY)
        self.job.generate()
        self.lab.call(["mkdir", "-p", self._clients])
        self._fio(fio.writing_files(self._clients, self.sizes.files_bytes))

    def play(self, turn: Turn) -> Played:
        """One turn, from an empty page cache on. Raises VasError when anything of it fails."""
        self.groups.move(_GROUP_OF[turn.arm], self._node_managers())
        page_cache.drop(self.root)
        self._fio(fio.reading_once(self._clients, self.sizes.files_bytes))
        with self._beside(turn.arm) as job_seconds:
            found = {name: self._measure(name) for name in turn.patterns}
        return Played(
            arm=turn.arm,
            round=turn.round,
            warm_up=turn.warm_up,
            bytes_per_second=found,
            job_seconds=tuple(job_seconds),
        )

    def _beside(self, arm: ArmName) -> AbstractContextManager[list[float]]:
        if arm == ALONE:
            return nullcontext([])
        return in_a_loop(self.job, self.system, self.lab.stop)

    def _measure(self, name: str) -> float:
        pattern = _BY_NAME[name]
        argv = fio.measuring(pattern, self._clients, self.sizes.files_bytes, self.seconds)
        return fio.throughput(self._fio(argv), pattern.direction)

    def _fio(self, argv: list[str]) -> str:
        entered = self.groups.entering("server", self.lab.enter(argv))
        return run(entered, timeout_seconds=self.seconds + _SPARE_SECONDS).stdout

    @property
    def _clients(self) -> str:
        return str(inside(self.lab, _CLIENTS))

    def _node_managers(self) -> list[int]:
        """Outside of the lab, where cgroups are written. What they start is where they are."""
        named = {node_manager(guest.name) for guest in self.lab.spec.cluster.guests()}
        daemons = self.lab.ask(Request(ask="status")).daemons
        inner = [it.pid for it in daemons if it.name in named and it.pid is not None]
        return outside(self.root, self.lab.running.supervisor, inner)
