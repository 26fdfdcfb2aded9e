"""A site and one of its clients: this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vas_bench.interference.patterns import ArmName
from vas_bench.interference.target import TargetStage
from vas_bench.site.nodes import Nodes
from vas_bench.site.options import Drops
from vas_core.process import run


@dataclass(frozen=True, kw_only=True)
class SiteStage(TargetStage):
    """A stage on a site, past this machine's page cache, so that the servers answer."""

    nodes: Nodes
    drops: Drops
    direct = True

    def begin(self, arm: ArmName) -> None:
        """Empties the page caches that the user allows; an arm changes nothing else of a site."""
        if self.drops != "none":
            self.nodes.drop_caches(servers=self.drops == "all")

    def fio(self, arm: ArmName, argv: Sequence[str], timeout_seconds: float) -> str:
        """Returns what fio printed, run on this machine."""
        return run(argv, timeout_seconds=timeout_seconds).stdout
