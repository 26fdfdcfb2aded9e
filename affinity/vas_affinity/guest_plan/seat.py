"""Choosing a guest's cores among those that are free. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from vas_affinity.guest_plan.machine import Core, Near
from vas_affinity.guest_plan.request import GuestRequest

Cores = tuple[tuple[Core, ...], tuple[Core, ...]]
"""The vCPUs', and the helpers'."""


@dataclass(frozen=True)
class Comfort:
    """What is given up, one after the other, on a machine too small for all of it."""

    emulator: bool = True
    """The emulator has CPUs of its own, else those of the host."""
    iothreads: bool = True
    host: bool = True
    """The host's other work has cores of its own, else those of the storage server. Given up on
    machines of `FEW_CORES` or fewer only."""


FEW_CORES = 3
COMFORTS = (
    Comfort(),
    Comfort(emulator=False),
    Comfort(emulator=False, iothreads=False),
    Comfort(emulator=False, iothreads=False, host=False),
)


@dataclass(frozen=True)
class Seat:
    """A guest's cores: `threads` of each are its vCPUs', in order."""

    request: GuestRequest
    threads: int
    cores: tuple[Core, ...]
    helpers: tuple[Core, ...]
    """Cores of its emulator and iothreads."""

    @property
    def vcpus(self) -> tuple[int, ...]:
        """The CPU of each vCPU, by its number: siblings have neighbouring numbers."""
        cpus = [cpu for core in self.cores for cpu in core.cpus[: self.threads]]
        return tuple(cpus[: self.request.vcpus])

    @property
    def nodes(self) -> tuple[int, ...]:
        """The NUMA nodes of its cores."""
        return tuple(sorted({core.node for core in self.cores if core.node is not None}))


@dataclass(frozen=True)
class Room:
    """Nodes whose memory holds the guest, and how many threads of a core vCPUs may use."""

    homes: frozenset[int]
    threads_at_most: int


def find_seat(
    request: GuestRequest, free: Sequence[Core], near: Near, room: Room, comfort: Comfort
) -> Seat | None:
    """The guest's cores, or None if it does not fit.

    Fastest cores first, all of one kind; isolated ones before others; as many threads of each as
    there are; on one node if that is possible, else on few, nearest to storage.
    """
    iothreads = request.iothreads if comfort.iothreads else 0
    for pool, threads in _pools(free, min(room.threads_at_most, request.vcpus)):
        count = ceil(request.vcpus / threads)
        choice = _Choice(free, near, room, count, iothreads, comfort.emulator)
        chosen = choice.iothreads_first(pool) or choice.vcpus_first(pool)
        if chosen:
            return Seat(request, threads, *chosen)
    return None


def _pools(free: Sequence[Core], most: int) -> Iterator[tuple[list[Core], int]]:
    widest = max((len(core.cpus) for core in free), default=0)
    for kind in sorted({core.kind for core in free}, reverse=True):
        for threads in range(min(most, widest), 0, -1):
            fit = [core for core in free if core.kind == kind and len(core.cpus) >= threads]
            if any(core.isolated for core in fit):
                yield [core for core in fit if core.isolated], threads
            yield fit, threads


@dataclass(frozen=True)
class _Choice:
    """Takes `count` cores for vCPUs, a CPU for each of the iothreads, and one for the emulator."""

    free: Sequence[Core]
    near: Near
    room: Room
    count: int
    iothreads: int
    emulator: bool

    def iothreads_first(self, pool: Sequence[Core]) -> Cores | None:
        """Where a node has room for both, the iothreads get the cores nearest to storage."""
        widest = max((len(core.cpus) for core in self.free), default=1)
        together = self._cores(pool, ceil(self.iothreads / widest)) or ()
        nodes = {core.node for core in together}
        first = self._helpers([core for core in self.free if core.node in nodes])
        cores = self._cores([core for core in pool if core not in (first or ())], 0)
        return self._with_emulator(cores, first) if together else None

    def vcpus_first(self, pool: Sequence[Core]) -> Cores | None:
        """Where there is not, they take what is left, on the vCPUs' nodes if they can."""
        cores = self._cores(pool, 0)
        left = [core for core in self.free if core not in (cores or ())]
        nodes = {core.node for core in cores or ()}
        local = self._helpers([core for core in left if core.node in nodes])
        return self._with_emulator(cores, self._helpers(left) if local is None else local)

    def _with_emulator(
        self, cores: tuple[Core, ...] | None, helpers: tuple[Core, ...] | None
    ) -> Cores | None:
        """Adds a core if the iothreads' have no thread left for the emulator."""
        if not cores or helpers is None:
            return None
        if self.emulator and sum(len(core.cpus) for core in helpers) == self.iothreads:
            taken = {*cores, *helpers}
            left = [c for c in self.free if c not in taken and not c.isolated]
            nodes = {core.node for core in cores}
            order = sorted(self.near.order(left), key=lambda core: core.node not in nodes)
            return (cores, (*helpers, order[0])) if order else None
        return cores, helpers

    def _helpers(self, cores: Sequence[Core]) -> tuple[Core, ...] | None:
        taken: list[Core] = []
        for core in self.near.order(core for core in cores if not core.isolated):
            if sum(len(core.cpus) for core in taken) >= self.iothreads:
                break
            taken.append(core)
        enough = sum(len(core.cpus) for core in taken) >= self.iothreads
        return tuple(taken) if enough else None

    def _cores(self, pool: Sequence[Core], extra: int) -> tuple[Core, ...] | None:
        """Cores of one node that has `extra` more, else of few nodes, in the nodes' order."""
        rooms: dict[int | None, list[Core]] = {}
        for core in sorted(self.near.order(pool), key=lambda core: not core.isolated):
            rooms.setdefault(core.node, []).append(core)
        nodes = sorted(rooms, key=lambda node: node not in self.room.homes)  # stable: nearest first
        for node in nodes:
            if len(rooms[node]) >= self.count + extra:
                return tuple(rooms[node][: self.count])
        shares = _split(self.count, {node: len(rooms[node]) for node in nodes})
        taken = [core for node, share in shares.items() for core in rooms[node][:share]]
        return tuple(taken) if len(taken) == self.count and not extra else None


def _split(count: int, rooms: dict[int | None, int]) -> dict[int | None, int]:
    """How many cores of each node: of as few nodes as hold them, alike if they allow it."""
    nodes: list[int | None] = []
    for node in rooms:
        if sum(rooms[n] for n in nodes) < count:
            nodes.append(node)
    for node in list(nodes):
        if sum(rooms[n] for n in nodes if n != node) >= count:
            nodes.remove(node)
    alike, rest = divmod(count, max(1, len(nodes)))
    if not rest and all(rooms[node] >= alike for node in nodes):
        return dict.fromkeys(nodes, alike)
    shares: dict[int | None, int] = {}
    for node in nodes:
        shares[node] = min(rooms[node], count - sum(shares.values()))
    return shares
