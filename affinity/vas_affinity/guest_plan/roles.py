"""Gives every CPU a role, once the guests have their cores. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from vas_affinity.guest_plan.machine import Core, Near
from vas_affinity.guest_plan.settings import GuestPlanSettings
from vas_affinity.guest_plan.storage import StorageCpus
from vas_affinity.machine.topology import MachineTopology
from vas_affinity.placement import CpuRole


@dataclass(frozen=True)
class KeptCores:
    """The cores that no guest gets: those of the storage interrupts, and how many more."""

    interrupt_cores: tuple[Core, ...]
    oss: int
    host: int

    @property
    def more(self) -> int:
        """Returns the number of cores kept in addition to those of the interrupts."""
        return self.oss + self.host


def kept_of(
    cores: Sequence[Core], storage: StorageCpus, settings: GuestPlanSettings, *, host: bool
) -> KeptCores:
    """Returns what the storage server and its host keep.

    `host`: the host's other work has cores of its own.
    """
    mine = tuple(core for core in cores if set(core.cpus) & set(storage.cpus))
    share = ceil(settings.oss_share * len(cores))
    return KeptCores(mine, max(share - len(mine), 0), settings.host_cores if host else 0)


def roles_of(
    topology: MachineTopology,
    cores: Sequence[Core],
    kept: KeptCores,
    taken: dict[int, CpuRole],
    near: Near,
    *,
    junk: bool,
    oss: Sequence[Core] | None = None,
) -> dict[int, CpuRole]:
    """Returns online CPU -> role. `taken` are the roles of the guests' CPUs.

    `junk`: siblings of the storage interrupts' CPUs get no work. `oss` are the storage server's
    cores; None for those nearest to the storage interrupts.
    """
    roles = dict(taken)
    for core in kept.interrupt_cores:
        for cpu in core.cpus:
            spare = CpuRole.IDLE if junk or core.isolated else CpuRole.OSS
            roles[cpu] = CpuRole.STORAGE_IRQ if cpu in near.targets else spare
    left = [core for core in cores if not roles.keys() & set(core.cpus)]
    free = [core for core in left if not core.isolated]
    order = near.order(free, quiet=False)
    nearest = order[: min(kept.oss, len(order) - kept.host)]
    _give(roles, nearest if oss is None else oss, CpuRole.OSS)
    _give(roles, free, CpuRole.HOST)
    _give(roles, cores, CpuRole.IDLE)
    return {cpu: roles[cpu] for cpu in topology.online}


def _give(roles: dict[int, CpuRole], cores: Iterable[Core], role: CpuRole) -> None:
    for core in cores:
        for cpu in core.cpus:
            roles.setdefault(cpu, role)
