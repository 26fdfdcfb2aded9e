"""One value of the kernel or libvirt that says on which CPUs something runs."""

from __future__ import annotations

from typing import Protocol

from vas_affinity.machine.cpulist import format_cpulist, parse_cpulist
from vas_core.errors import VasError

Value = str | None
"""A list of CPUs as `format_cpulist` writes it; None: a definition without a pin."""


class Immovable(VasError):
    """The kernel refuses the change. That is normal: managed interrupts, per-CPU threads."""


class Gone(VasError):
    """The thread, interrupt, guest or cgroup is no longer the one that the plan meant."""


class Setting(Protocol):
    """One value that can be read and written.

    `key` names it in the journal, together with its incarnation (a thread's start time, a guest's
    UUID); `what` describes it to a reader. Both methods raise OSError or VasError: Gone if it is
    no longer what the plan meant, Immovable if the kernel refuses the change.
    """

    @property
    def key(self) -> str: ...

    @property
    def what(self) -> str: ...

    def read(self) -> Value:
        """Returns the present value."""

    def write(self, value: Value) -> None:
        """Changes the value to another one."""


def normal(cpus: str) -> str:
    """Returns a list of CPUs in the form in which lists are compared."""
    return format_cpulist(parse_cpulist(cpus))
