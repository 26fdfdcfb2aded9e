"""What each CPU is for, once the guests have their cores. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from vas_affinity.guest_plan.machine import Core, Near
from vas_affinity.guest_plan.seat import Seat
from vas_affinity.guest_plan.settings import GuestSettings
from vas_affinity.guest_plan.storage import StorageCpus
from vas_affinity.placement import CpuRole
from vas_affinity.topology import Topology


@dataclass(frozen=True)
class Kept:
    """Cores that no guest gets: those of the storage interrupts, and how many more."""

    interrupt_cores: tuple[Core, ...]
    oss: int
    host: int

    @property
    def more(self) -> int:
        """The cores kept beside those of the interrupts."""
        return self.oss + self.host


def kept_of(
    cores: Sequence[Core], storage: StorageCpus, settings: GuestSettings, *, host: bool
) -> Kept:
    """What the storage server and its host keep; `host` if its other work has cores of its own."""
    mine = tuple(core for core in cores if set(core.cpus) & set(storage.cpus))
    share = ceil(settings.oss_share * len(cores))
    return Kept(mine, max(share - len(mine), 0), settings.host_cores if host else 0)


def helper_cpus(seat: Seat, *, emulator: bool, iothreads: bool) -> dict[CpuRole, tuple[int, ...]]:
    """The helper cores' CPUs: one for each iothread, the rest for the emulator."""
    cpus = [cpu for core in seat.helpers for cpu in core.cpus]
    count = seat.request.iothreads if iothreads else 0
    mine, rest = tuple(cpus[:count]), tuple(cpus[count:])
    return {CpuRole.IOTHREAD: mine, CpuRole.EMULATOR: rest if emulator else ()}


def roles_of(
    topology: Topology,
    cores: Sequence[Core],
    kept: Kept,
    taken: dict[int, CpuRole],
    near: Near,
    *,
    junk: bool,
) -> dict[int, CpuRole]:
    """A role for every online CPU, by its number. `taken` are those of the guests' CPUs."""
    roles = dict(taken)
    for core in kept.interrupt_cores:
        for cpu in core.cpus:
            spare = CpuRole.IDLE if junk or core.isolated else CpuRole.OSS
            roles[cpu] = CpuRole.STORAGE_IRQ if cpu in near.targets else spare
    left = [core for core in cores if not roles.keys() & set(core.cpus)]
    free = [core for core in left if not core.isolated]
    order = near.order(free, quiet=False)
    oss = order[: min(kept.oss, len(order) - kept.host)]
    _give(roles, oss, CpuRole.OSS)
    _give(roles, free, CpuRole.HOST)
    _give(roles, cores, CpuRole.IDLE)
    return {cpu: roles[cpu] for cpu in topology.online}


def _give(roles: dict[int, CpuRole], cores: Iterable[Core], role: CpuRole) -> None:
    for core in cores:
        for cpu in core.cpus:
            roles.setdefault(cpu, role)
