"""One node's route switcher: what it should have, what it has, and making the two the same."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Cluster
from vas_core.errors import FoundDifferent
from vas_core.journal import Entry, Journal
from vas_routing.kernel import Kernel
from vas_routing.links import Links
from vas_routing.plan import Change, Found, kind_of, plan, row_of
from vas_routing.policy import Choices, wish
from vas_routing.renames import follow, followed
from vas_routing.wish import Wish


@dataclass(frozen=True)
class Node:
    """A host or guest of the map, in the kernel of this network namespace.

    `state` is a directory that outlives reboots: it holds what sysctls were before VAS.
    """

    cluster: Cluster
    name: str
    kernel: Kernel
    state: Path

    @property
    def journal(self) -> Path:
        """The file of what was there before."""
        return self.state / "journal.json"

    def wish(self, links: Links, choices: Choices) -> Wish | None:
        """What it is to have; None if no path is up. Raises BadInput if the map lacks the node."""
        return wish(self.cluster, self.name, links, choices, self.kernel.settings)

    def plan(self, wished: Wish | None) -> list[Change]:
        """What has to change for it; nothing for None. Changes nothing."""
        return self._plan(wished, self.changed())

    def changed(self) -> list[Entry]:
        """What was there before, by the names that interfaces have now. Changes nothing."""
        return followed(Journal.peek(self.journal), dict(socket.if_nameindex()))

    @contextmanager
    def opened_journal(self) -> Iterator[Journal]:
        """The journal, to be written, by the names that interfaces have now."""
        with Journal.open(self.journal) as journal:
            follow(journal, dict(socket.if_nameindex()))
            yield journal

    def apply(self, wished: Wish | None) -> list[Change]:
        """Makes it true, reads it back, and returns what was changed.

        Raises VasError where the kernel refuses, FoundDifferent where it took a change and does
        not have it.
        """
        with self.opened_journal() as journal:
            changes = self._plan(wished, journal.pending_rollback())
            self.kernel.apply(changes, journal)
            left = self._plan(wished, journal.pending_rollback()) if changes else []
        if left:
            raise FoundDifferent(
                f"the kernel does not have it: {describe(left[0])}",
                where=self.name,
                hint="something else changes it too: see `vas route doctor`",
            )
        return changes

    def rollback(self) -> list[Change]:
        """Takes all of VAS's away and gives sysctls what they were; returns what was changed."""
        return self.apply(Wish()) if self.plan(Wish()) else []

    def found(self) -> Found:
        """What it has of VAS's."""
        return self.kernel.found((), self.changed())

    def _plan(self, wished: Wish | None, changed: Iterable[Entry]) -> list[Change]:
        if wished is None:
            return []
        names = (sysctl.name for sysctl in wished.sysctls)
        return plan(self.kernel.found(names, changed), wished)


def describe(change: Change) -> str:
    """A step in a line: `add route destination 10.0.0.11/32 gateway 169.254.213.1 ...`."""
    row = row_of(change.thing).items()
    words = (f"{key} {value}" for key, value in row)
    return " ".join([change.action, kind_of(change.thing), *words])
