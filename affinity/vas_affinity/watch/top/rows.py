"""Computes the rows of `vas affinity top` from two samples of threads. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vas_affinity.machine.reading.tasks import TaskStat
from vas_affinity.machine.topology import MachineTopology, Nearness

ThreadId = tuple[int, int]
"""A tid and the kernel's start time: the kernel reuses tids."""


@dataclass(frozen=True)
class Look:
    """A thread at one moment. `migrations` is the kernel's count, None if there is none."""

    key: str
    pid: int
    stat: TaskStat
    migrations: int | None
    name: str | None = None
    """The full name, where a JVM told it."""


@dataclass(frozen=True)
class ThreadRow:
    """A thread between two samples. `cpu` is its CPU use, 1.0 for a whole CPU.

    `name` is the full name of a JVM's thread, None where it is not known.

    `moves_per_second` is None if the kernel does not count; `from_irq` if no interrupt's core is
    known.
    """

    key: str
    pid: int
    tid: int
    core: int
    cpu: float
    moves_per_second: float | None
    from_irq: Nearness | None
    name: str | None = None


def rows(
    before: Mapping[ThreadId, Look],
    now: Mapping[ThreadId, Look],
    seconds: float,
    ticks_per_second: int,
    nearest: Mapping[int, Nearness],
) -> list[ThreadRow]:
    """Returns a row for each thread of both samples, the largest CPU use first."""
    found = []
    for thread, look in now.items():
        if thread in before:
            used = (look.stat.ticks - before[thread].stat.ticks) / ticks_per_second / seconds
            moves = _per_second(before[thread].migrations, look.migrations, seconds)
            core = look.stat.cpu
            tid, near = look.stat.tid, nearest.get(core)
            found.append(ThreadRow(look.key, look.pid, tid, core, used, moves, near, look.name))
    return sorted(found, key=lambda row: (-row.cpu, -(row.moves_per_second or 0.0), row.key))


def nearest_interrupt(
    topology: MachineTopology, interrupt_cpus: Iterable[int]
) -> dict[int, Nearness]:
    """Returns CPU -> how near the nearest of these CPUs is; empty if there are none."""
    cpus = [cpu for cpu in interrupt_cpus if cpu in topology.by_number]
    if not cpus:
        return {}
    return {n: min(topology.nearness(n, cpu) for cpu in cpus) for n in topology.online}


def _per_second(before: int | None, now: int | None, seconds: float) -> float | None:
    return None if before is None or now is None else (now - before) / seconds
