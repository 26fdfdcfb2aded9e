"""From two looks at threads to what is shown of each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vas_affinity.record.tasks import TaskStat
from vas_affinity.topology import Nearness, Topology

Thread = tuple[int, int]
"""A tid and the kernel's start time: a number that was given again is another thread."""


@dataclass(frozen=True)
class Look:
    """A thread at a moment. `migrations` is the kernel's count, None where it gives none."""

    key: str
    pid: int
    stat: TaskStat
    migrations: int | None


@dataclass(frozen=True)
class Row:
    """A thread between two looks. `cpu` is its use, 1.0 a whole CPU.

    `moves_per_second` is None where the kernel does not count; `from_irq` where no interrupt's
    core is known.
    """

    key: str
    pid: int
    tid: int
    core: int
    cpu: float
    moves_per_second: float | None
    from_irq: Nearness | None


def rows(
    before: Mapping[Thread, Look],
    now: Mapping[Thread, Look],
    seconds: float,
    ticks_per_second: int,
    nearest: Mapping[int, Nearness],
) -> list[Row]:
    """The threads that were there both times, those that use most first."""
    found = []
    for thread, look in now.items():
        if thread in before:
            used = (look.stat.ticks - before[thread].stat.ticks) / ticks_per_second / seconds
            moves = _per_second(before[thread].migrations, look.migrations, seconds)
            core = look.stat.cpu
            tid, near = look.stat.tid, nearest.get(core)
            found.append(Row(look.key, look.pid, tid, core, used, moves, near))
    return sorted(found, key=lambda row: (-row.cpu, -(row.moves_per_second or 0.0), row.key))


def nearest_interrupt(topology: Topology, interrupt_cpus: Iterable[int]) -> dict[int, Nearness]:
    """How near each CPU is to the nearest of these; nothing where there are none."""
    cpus = [cpu for cpu in interrupt_cpus if cpu in topology.by_number]
    if not cpus:
        return {}
    return {n: min(topology.nearness(n, cpu) for cpu in cpus) for n in topology.online}


def _per_second(before: int | None, now: int | None, seconds: float) -> float | None:
    return None if before is None or now is None else (now - before) / seconds
