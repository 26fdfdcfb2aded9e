"""Switches one node's routes: compares the desired state with the kernel and applies it."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Cluster
from vas_core.errors import FoundDifferent
from vas_core.journal import Journal, JournalEntry
from vas_core.predictable_names import HOST_JOURNAL
from vas_routing.desired import DesiredState
from vas_routing.kernel import RouteKernel
from vas_routing.links import NodeLinks
from vas_routing.plan import CurrentState, RouteChange, kind_of, plan, row_of
from vas_routing.policy import Choices, desired_state
from vas_routing.renames import follow, followed


@dataclass(frozen=True)
class RoutedNode:
    """A host or guest of the map, in the kernel of this network namespace.

    `state` is a directory with the journal: the values that sysctls had before VAS. The methods
    raise VasError if the journal is damaged, OSError if it cannot be read or written.
    """

    cluster: Cluster
    name: str
    kernel: RouteKernel
    state: Path

    @property
    def journal(self) -> Path:
        """The file with the values that the kernel had before VAS changed them."""
        return self.state / HOST_JOURNAL.of()

    def desired_state(self, links: NodeLinks, choices: Choices) -> DesiredState | None:
        """Returns the node's desired state; None if no path is up.

        Raises BadInput if the map lacks the node.
        """
        return desired_state(self.cluster, self.name, links, choices, self.kernel.settings)

    def plan(self, desired: DesiredState | None) -> list[RouteChange]:
        """Returns the changes that lead to a desired state; none for None. Changes nothing."""
        return self._plan(desired, self.changed())

    def changed(self) -> list[JournalEntry]:
        """Returns the journal's entries, by the names that interfaces have now. Changes nothing."""
        return followed(Journal.peek(self.journal), dict(socket.if_nameindex()))

    @contextmanager
    def opened_journal(self) -> Iterator[Journal]:
        """Opens the journal for writing, with the names that interfaces have now."""
        with Journal.open(self.journal) as journal:
            follow(journal, dict(socket.if_nameindex()))
            yield journal

    def apply(self, desired: DesiredState | None) -> list[RouteChange]:
        """Applies the desired state to the kernel, reads it back, and returns the changes.

        None changes nothing. Raises VasError if the kernel refuses (OSError for a sysctl),
        FoundDifferent if a change that it took is not there afterwards.
        """
        with self.opened_journal() as journal:
            changes = self._plan(desired, journal.pending_rollback())
            self.kernel.apply(changes, journal)
            left = self._plan(desired, journal.pending_rollback()) if changes else []
        if left:
            raise FoundDifferent(
                f"the kernel does not have it: {describe(left[0])}",
                where=self.name,
                hint="something else changes it too: see `vas route doctor`",
            )
        return changes

    def rollback(self) -> list[RouteChange]:
        """Removes everything of VAS's and restores sysctls; returns the changes.

        Raises as `apply` does.
        """
        return self.apply(DesiredState()) if self.plan(DesiredState()) else []

    def found(self) -> CurrentState:
        """Returns VAS's routes, rules, addresses and sysctls as the kernel has them now."""
        return self.kernel.found((), self.changed())

    def _plan(
        self, desired: DesiredState | None, changed: Iterable[JournalEntry]
    ) -> list[RouteChange]:
        if desired is None:
            return []
        names = (sysctl.name for sysctl in desired.sysctls)
        return plan(self.kernel.found(names, changed), desired)


def describe(change: RouteChange) -> str:
    """Returns a change as one line: `add route destination 192.0.2.11/32 gateway 169.254.213.1
    ...`."""
    row = row_of(change.thing).items()
    words = (f"{key} {value}" for key, value in row)
    return " ".join([change.action, kind_of(change.thing), *words])
