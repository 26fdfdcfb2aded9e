"""Applies desired states fast: compares with the kernel's last known state, not with a new
reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vas_routing.desired import DesiredState
from vas_routing.node import RoutedNode
from vas_routing.plan import CurrentState, RouteChange, after, plan


class Switch:
    """A node and the last known state of its kernel."""

    def __init__(self, node: RoutedNode) -> None:
        self._node = node
        self._found: CurrentState | None = None

    def make(self, desired: DesiredState) -> list[RouteChange]:
        """Changes what differs from the last known state; returns the changes.

        Raises VasError if the kernel refuses, OSError if it refuses a sysctl or the journal cannot
        be written; the next call then reads the kernel.
        """
        found = self._with_sysctls(self._found, desired) if self._found else self._read(desired)
        self._found = None
        changes = plan(found, desired)
        self._apply(changes)
        self._found = after(found, desired)
        return changes

    def check(self, desired: DesiredState) -> list[RouteChange]:
        """Reads the kernel, changes what differs from the desired state and returns the changes.

        Raises as `make` does.
        """
        self.forget()
        return self.make(desired)

    def forget(self) -> None:
        """Forgets the known state, so that the kernel is read the next time.

        An interface that goes down takes its routes with it, and the kernel does not report them.
        """
        self._found = None

    def _apply(self, changes: Sequence[RouteChange]) -> None:
        if changes:
            with self._node.opened_journal() as journal:
                self._node.kernel.apply(changes, journal)

    def _with_sysctls(self, found: CurrentState, desired: DesiredState) -> CurrentState:
        """Adds the values of sysctls that were not desired until now."""
        names = {sysctl.name for sysctl in desired.sysctls} - found.sysctls.keys() - found.absent
        read = self._node.kernel.sysctls(names)
        absent = found.absent | (names - read.keys())
        return replace(found, sysctls={**found.sysctls, **read}, absent=absent)

    def _read(self, desired: DesiredState) -> CurrentState:
        changed = self._node.changed()
        return self._node.kernel.found((sysctl.name for sysctl in desired.sysctls), changed)
