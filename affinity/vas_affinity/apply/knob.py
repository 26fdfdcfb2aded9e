"""What a pin turns: one value that says on which CPUs something runs, and how it is written."""

from __future__ import annotations

from typing import Protocol

from vas_affinity.cpulist import format_cpulist, parse_cpulist
from vas_core.errors import VasError

Value = str | None
"""A list of CPUs as `format_cpulist` writes it; None is no pin of its own (in a definition)."""


class Immovable(VasError):
    """The kernel keeps it where it is. That is normal: managed interrupts, per-CPU threads."""


class Gone(VasError):
    """It is not there, or no longer what the plan meant. Nothing is to be done."""


class Knob(Protocol):
    """One value. `key` names it in the journal, and which incarnation of it; `what` to a reader.

    Reading and writing raise OSError or VasError, Gone where it is not what it was, Immovable
    where the kernel does not let it be written.
    """

    @property
    def key(self) -> str: ...

    @property
    def what(self) -> str: ...

    def read(self) -> Value:
        """Its present value."""

    def write(self, value: Value) -> None:
        """Gives it another one."""


def normal(cpus: str) -> str:
    """A list of CPUs in the one way that they are compared."""
    return format_cpulist(parse_cpulist(cpus))
