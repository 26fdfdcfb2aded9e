"""Makes wishes true fast: from what was found last, and reads the kernel again afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vas_routing.node import Node
from vas_routing.plan import Change, Found, after, plan
from vas_routing.wish import Wish


class Switch:
    """A node, and what its kernel has as far as this process knows."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._found: Found | None = None

    def make(self, wished: Wish) -> list[Change]:
        """Changes what differs from what was found last. Raises VasError as the kernel refuses;
        then all is read again the next time."""
        found = self._with_sysctls(self._found, wished) if self._found else self._read(wished)
        self._found = None
        changes = plan(found, wished)
        self._apply(changes)
        self._found = after(found, wished)
        return changes

    def check(self, wished: Wish) -> list[Change]:
        """Reads the kernel; changes and returns what differs. Raises VasError."""
        self.forget()
        return self.make(wished)

    def forget(self) -> None:
        """Reads all the next time: an interface that goes down takes its routes with it, untold."""
        self._found = None

    def _apply(self, changes: Sequence[Change]) -> None:
        if changes:
            with self._node.opened_journal() as journal:
                self._node.kernel.apply(changes, journal)

    def _with_sysctls(self, found: Found, wished: Wish) -> Found:
        """With the values of those that were not wished until now."""
        names = {sysctl.name for sysctl in wished.sysctls} - found.sysctls.keys() - found.absent
        read = self._node.kernel.sysctls(names)
        absent = found.absent | (names - read.keys())
        return replace(found, sysctls={**found.sysctls, **read}, absent=absent)

    def _read(self, wished: Wish) -> Found:
        changed = self._node.changed()
        return self._node.kernel.found((sysctl.name for sysctl in wished.sysctls), changed)
