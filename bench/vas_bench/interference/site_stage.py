"""A site and one of its clients: this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from vas_bench.interference.fio import Clients
from vas_bench.interference.load import in_a_loop
from vas_bench.interference.patterns import ALONE, ArmName
from vas_bench.site.nodes import Nodes
from vas_bench.site.options import Drops
from vas_core.process import run
from vas_yarn.jobs.place import JobPlace
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.terasort import TeraSort
from vas_yarn.jobs.trees import inside


@dataclass(frozen=True)
class SiteStage:
    """A `TargetStage` on a site. `directory` is ours, as jobs write it; `give_up` ends the job."""

    place: JobPlace
    directory: str
    files_bytes: int
    job: TeraSort
    system: Arm
    nodes: Nodes
    drops: Drops
    give_up: Callable[[], None]

    @property
    def clients(self) -> Clients:
        """The clients' files, read past this machine's page cache, so that the servers answer."""
        there = inside(self.place, f"{self.directory}/clients")
        return Clients(str(there), self.files_bytes, direct=True)

    def prepare(self) -> None:
        """Makes the job's input. Raises VasError when that fails."""
        self.job.generate()
        self.place.call(["mkdir", "-p", self.clients.directory])

    def begin(self, arm: ArmName) -> None:
        """Empties the page caches that the user allows; an arm changes nothing else of a site."""
        if self.drops != "none":
            self.nodes.drop_caches(servers=self.drops == "all")

    def fio(self, arm: ArmName, argv: Sequence[str], timeout_seconds: float) -> str:
        """Returns what fio printed, run on this machine."""
        return run(argv, timeout_seconds=timeout_seconds).stdout

    def beside(self, arm: ArmName) -> AbstractContextManager[list[float]]:
        """Runs TeraSort in the site's YARN, in its guests, during the body; nothing when alone."""
        if arm == ALONE:
            return nullcontext([])
        return in_a_loop(self.job, self.system, self.give_up)
