"""Finds the lines that carry a device's interrupts, and the CPUs on which they fire. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from vas_affinity.machine.snapshot import Interrupt
from vas_affinity.machine.topology import MachineTopology


def busy_lines(lines: Sequence[Interrupt]) -> list[Interrupt]:
    """Returns the lines that fire, if rates are known; else all lines."""
    fired = [line for line in lines if line.per_second]
    return fired or list(lines)


def firing_cpus(line: Interrupt, topology: MachineTopology) -> tuple[int, ...]:
    """Returns the online CPUs on which an interrupt fires; if not known, those allowed."""
    return tuple(cpu for cpu in line.effective or line.allowed if cpu in topology.online)
